from __future__ import annotations

import math

import pytest
import torch

from identica._checks import InputError
from identica.encoders import BoxHead, Head, NormalisedHead, RealHead, SphereHead, make_head
from identica.spaces import Box, Real, Sphere


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
    for space, order in ((Box(3), 5.0), (Real(3), 2.0)):
        head = make_head(space, normalised=True)
        assert isinstance(head, NormalisedHead)
        assert head.order == order
    assert isinstance(make_head(Real(3)), RealHead)
    assert isinstance(make_head(Sphere(3), normalised=True), SphereHead)


def test_constant_outputs_are_normalised_without_division_by_zero() -> None:
    assert torch.isfinite(NormalisedHead(2, order=5.0)(torch.ones(10, 2))).all()


@pytest.mark.parametrize("head", [BoxHead(3, 4.0), NormalisedHead(3, 4.0, order=5.0)], ids=["sigmoid", "moments"])
def test_codes_of_a_box_are_read_from_0_to_1(head: Head, generator: torch.Generator) -> None:
    values = 5 + 7 * torch.rand(20_000, 3, generator=generator)
    values = torch.logit((values - 5) / 7, eps=1e-6) if isinstance(head, BoxHead) else values
    codes = head(values).detach()
    read = head.units(codes)(codes)
    assert torch.allclose(read.min(dim=0).values, torch.zeros(3), atol=0.02)
    assert torch.allclose(read.max(dim=0).values, torch.ones(3), atol=0.02)


@pytest.mark.parametrize("head", [RealHead(3, 4.0), NormalisedHead(3, 4.0, order=2.0)], ids=["raw", "moments"])
def test_unbounded_codes_are_read_with_mean_0_and_variance_1(head: Head, generator: torch.Generator) -> None:
    codes = head(5 + 7 * torch.randn(20_000, 3, generator=generator)).detach()
    read = head.units(codes)(codes)
    assert torch.allclose(read.mean(dim=0), torch.zeros(3), atol=1e-3)
    assert torch.allclose(read.std(dim=0), torch.ones(3), atol=1e-3)


def test_codes_of_a_sphere_are_read_with_norm_1(generator: torch.Generator) -> None:
    head = SphereHead(3, 4.0)
    codes = head(torch.randn(100, 3, generator=generator)).detach()
    assert torch.allclose(head.units(codes)(codes).norm(dim=1), torch.ones(100))


def test_a_linear_scale_is_the_parameter_itself() -> None:
    assert make_head(Box(3), 1.5, logarithmic=False).scale.raw.tolist() == [1.5] * 3
    assert make_head(Box(3), 1.5).scale.raw.tolist() == pytest.approx([math.log(1.5)] * 3)


def test_bad_heads_are_refused() -> None:
    class Torus:
        dim = 2

        def __str__(self) -> str:
            return "a torus"

    with pytest.raises(InputError, match="space must be a sphere, a box or unbounded to have a head, got a torus"):
        make_head(Torus())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="start must be a finite number above 0, got -1"):
        BoxHead(3, -1.0)
