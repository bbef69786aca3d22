from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from identica._checks import InputError
from identica.sources import Layers, parse_mixing


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**31),
    dim=st.integers(1, 8),
    extra=st.integers(0, 5),
    layers=st.integers(1, 4),
    activation=st.sampled_from(["leaky-relu", "softplus", "wave"]),
    bias=st.sampled_from([0.0, 0.7]),
)
def test_inverse_undoes_the_mixing(seed: int, dim: int, extra: int, layers: int, activation: str, bias: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    described = Layers(layers=layers, activation=activation, bias=bias)  # type: ignore[arg-type]
    mixing = described.draw(dim, dim + extra, generator=generator, draws=200).double()
    latents = torch.randn(50, dim, generator=generator, dtype=torch.float64)
    observations = mixing(latents)
    assert observations.shape == (50, dim + extra)
    assert torch.allclose(mixing.inverse(observations), latents, atol=1e-8)


def test_layers_are_normalised_and_better_conditioned_than_all_of_25_000_draws() -> None:
    mixing = Layers().draw(10, generator=torch.Generator().manual_seed(0))
    fresh = torch.Generator().manual_seed(99)
    others = 2 * torch.rand(20_000, 10, 10, generator=fresh) - 1
    typical = torch.linalg.cond(others / others.norm(dim=1, keepdim=True)).quantile(0.001)
    assert len(mixing.weights) == 3
    for weight in mixing.weights:
        assert torch.allclose(weight.norm(dim=0), torch.ones(10), atol=1e-5)
        assert torch.linalg.cond(weight) < typical


def test_the_same_seed_draws_the_same_mixing() -> None:
    one, two = (Layers(bias=0.5).draw(4, generator=torch.Generator().manual_seed(5), draws=50) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one.weights, two.weights, strict=True))
    for first, second in zip(one.biases, two.biases, strict=True):
        assert first is not None
        assert second is not None
        assert torch.equal(first, second)


def test_a_bias_changes_neither_weights_nor_what_has_none() -> None:
    without, with_bias = (
        Layers(layers=2, bias=bias).draw(30, generator=torch.Generator().manual_seed(5), draws=10)
        for bias in (0.0, 0.5)
    )
    assert without.biases == [None, None]
    assert all(torch.equal(a, b) for a, b in zip(without.weights, with_bias.weights, strict=True))
    drawn = torch.cat([bias for bias in with_bias.biases if bias is not None])
    assert drawn.shape == (60,)
    assert float(drawn.std()) == pytest.approx(0.5, rel=0.3)
    assert torch.equal(without(torch.zeros(1, 30)), torch.zeros(1, 30))
    first, last = (bias for bias in with_bias.biases if bias is not None)
    bent = torch.nn.functional.leaky_relu(first, 0.2)
    assert torch.allclose(with_bias(torch.zeros(1, 30))[0], with_bias.weights[1] @ bent + last)


@pytest.mark.parametrize(
    ("activation", "bend"),
    [
        ("leaky-relu", lambda x: torch.where(x > 0, x, 0.5 * x)),
        ("softplus", lambda x: (1 + x.exp()).log()),
        ("wave", lambda x: x + 0.4 * (2 * x).sin()),
    ],
)
def test_what_stands_between_layers(activation: str, bend, generator: torch.Generator) -> None:  # type: ignore[no-untyped-def]
    mixing = Layers(layers=2, activation=activation, slope=0.5).draw(3, generator=generator, draws=10)  # type: ignore[arg-type]
    latents = torch.randn(20, 3, generator=generator)
    first, second = mixing.weights
    assert torch.allclose(mixing(latents), bend(latents @ first.T) @ second.T, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "mixing"),
    [
        ("layers()", Layers()),
        ("layers(layers=5)", Layers(layers=5)),
        ("layers(activation=softplus)", Layers(activation="softplus")),
        ("layers(slope=0.5, bias=0.3)", Layers(slope=0.5, bias=0.3)),
        ("layers(layers=2, activation=wave, bias=1)", Layers(layers=2, activation="wave", bias=1.0)),
    ],
)
def test_mixings_are_read_as_they_print(text: str, mixing: Layers) -> None:
    assert parse_mixing(text) == mixing
    assert str(mixing) == text
    assert parse_mixing(f"  {text.replace(',', ' , ').replace('=', ' = ')} ") == mixing


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("layers", "cannot read the mixing 'layers': write it like 'layers(layers=5, activation=softplus)'"),
        ("mlp(layers=5)", "cannot read the mixing 'mlp(layers=5)'"),
        ("layers(depth=5)", "unknown parameter of layers 'depth'"),
        ("layers(layers=many)", "layers in 'layers(layers=many)' must be a number, got 'many'"),
        ("layers(layers=2.5)", "layers in 'layers(layers=2.5)' must be a number, got '2.5'"),
        ("layers(layers=0)", "layers must be a whole number of at least 1, got 0"),
        ("layers(activation=sigmoid)", "unknown activation 'sigmoid'"),
        ("layers(slope=0)", "slope must be a finite number above 0, got 0"),
        ("layers(bias=-1)", "bias must be"),
        ("layers(bias=nan)", "bias must be"),
    ],
)
def test_bad_mixings_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_mixing(text)
    assert message in str(caught.value)


def test_fewer_observations_than_latents_are_refused(generator: torch.Generator) -> None:
    with pytest.raises(InputError, match="observed must be at least dim = 4 for an invertible mixing, got 3"):
        Layers().draw(4, 3, generator=generator)


def test_waves_are_undone_however_large_the_latents(generator: torch.Generator) -> None:
    mixing = Layers(activation="wave").draw(3, generator=generator, draws=100).double()
    latents = 1000 * torch.randn(50, 3, generator=generator, dtype=torch.float64)
    assert torch.allclose(mixing.inverse(mixing(latents)), latents, atol=1e-6)
