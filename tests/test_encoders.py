from __future__ import annotations

import math

import pytest
import torch

from identica._checks import InputError
from identica.encoders import MLP, BoxHead, Encoder, NormalisedHead, RealHead, SphereHead, Whitening, make_head


def test_the_paper_network_has_its_widths_and_slope(generator: torch.Generator) -> None:
    network = MLP(10, 10, MLP.paper_widths(10), generator=generator)
    linear = [layer for layer in network if isinstance(layer, torch.nn.Linear)]
    assert [layer.out_features for layer in linear] == [100, 500, 500, 500, 500, 100, 10]
    assert {layer.negative_slope for layer in network if isinstance(layer, torch.nn.LeakyReLU)} == {0.01}
    assert network(torch.zeros(3, 10)).shape == (3, 10)


def test_weights_come_from_the_generator_alone() -> None:
    before = torch.get_rng_state()
    one, two = (MLP(4, 2, [8], generator=torch.Generator().manual_seed(1)) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))


def test_heads_map_onto_their_spaces_with_a_learnable_scale(generator: torch.Generator) -> None:
    values = 5 * torch.randn(100, 3, generator=generator)
    assert torch.allclose(SphereHead(3, 2.0)(values).norm(dim=1), torch.full((100,), 2.0))
    boxed = BoxHead(3, 4.0)(values).detach()
    assert float(boxed.min()) >= 0
    assert float(boxed.max()) <= 4
    assert torch.equal(RealHead(3)(values), values)
    for head in (SphereHead(3), BoxHead(3)):
        head(values).square().sum().backward()
        assert float(head.scale.raw.grad.abs().sum()) > 0
    assert not RealHead(3).scale.raw.requires_grad
    assert torch.allclose(RealHead(3, 2.0, learnable=True)(values), 2 * values)


@pytest.mark.parametrize("order", [2.0, 5.0])
def test_normalised_uniform_codes_are_as_wide_as_the_scale(order: float, generator: torch.Generator) -> None:
    head = NormalisedHead(3, 2.0, order=order)
    values = 5 + 7 * torch.rand(20_000, 3, generator=generator)
    for _ in range(200):
        codes = head(values)
    assert torch.allclose(codes.max(dim=0).values - codes.min(dim=0).values, torch.full((3,), 2.0), atol=0.03)
    assert torch.allclose(head.eval()(values), codes, atol=0.01)


def test_high_orders_fix_the_range_and_order_two_the_deviation(generator: torch.Generator) -> None:
    normal, uniform = torch.randn(20_000, 1, generator=generator), torch.rand(20_000, 1, generator=generator)

    def spread(values: torch.Tensor, order: float) -> float:
        return float(NormalisedHead(1, order=order)(values).detach().std())

    assert spread(normal, 2.0) == pytest.approx(spread(uniform, 2.0), rel=0.01)
    assert spread(normal, 5.0) < 0.9 * spread(uniform, 5.0)


def test_normalised_heads_stand_for_boxes_and_unbounded_spaces() -> None:
    for space, order in (("box", 5.0), ("unbounded", 2.0)):
        head = make_head(space, 3, normalised=True)
        assert isinstance(head, NormalisedHead)
        assert head.order == order
    assert isinstance(make_head("unbounded", 3), RealHead)
    assert isinstance(make_head("sphere", 3, normalised=True), SphereHead)


def test_constant_outputs_are_normalised_without_division_by_zero() -> None:
    assert torch.isfinite(NormalisedHead(2, order=5.0)(torch.ones(10, 2))).all()


def test_a_linear_scale_is_the_parameter_itself() -> None:
    assert make_head("box", 3, 1.5, logarithmic=False).scale.raw.tolist() == [1.5] * 3
    assert make_head("box", 3, 1.5).scale.raw.tolist() == pytest.approx([math.log(1.5)] * 3)


def test_whitened_observations_have_unit_covariance(generator: torch.Generator) -> None:
    sample = torch.randn(5000, 4, generator=generator) @ torch.randn(4, 4, generator=generator) + 3
    white = Whitening.fit(sample)(sample)
    assert torch.allclose(torch.cov(white.T), torch.eye(4), atol=1e-3)
    assert torch.allclose(white.mean(dim=0), torch.zeros(4), atol=1e-3)


def test_whitening_leaves_directions_without_variance_out(generator: torch.Generator) -> None:
    flat = torch.randn(500, 2, generator=generator) @ torch.randn(2, 3, generator=generator)
    assert float(Whitening.fit(flat)(flat).abs().max()) < 10


def test_encoder_chains_its_parts(generator: torch.Generator) -> None:
    sample = torch.rand(100, 5, generator=generator)
    encoder = Encoder(MLP(5, 3, [16], generator=generator), BoxHead(3), Whitening.fit(sample))
    assert encoder(sample).shape == (100, 3)
    assert {name.split(".")[0] for name, _ in encoder.named_parameters()} == {"backbone", "head"}


def test_bad_encoders_are_refused(generator: torch.Generator) -> None:
    with pytest.raises(InputError, match="unknown space 'torus'"):
        make_head("torus", 3)
    with pytest.raises(InputError, match="start must be a finite number above 0, got -1"):
        BoxHead(3, -1.0)
    with pytest.raises(InputError, match="2 NaN or infinite"):
        Whitening.fit(torch.tensor([[1.0, math.nan], [math.inf, 1.0], [0.0, 0.0]]))
    with pytest.raises(InputError, match="count above dim"):
        Whitening.fit(torch.zeros(2, 5))
