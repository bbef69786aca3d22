"""What the shape of codes says against a space."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from identica.laws import GeneralizedNormal, Laplace, Law, Marginal, Normal, Uniform
from identica.models import Model
from identica.spaces import Box, Real, Space, Sphere
from identica.validation._objections import objection as full_objection

GENNORM = "gennorm(beta=3)"


def objection(space: Space, values: np.ndarray) -> str | None:
    """Of the space alone: no law is refused for partners that do not differ."""
    conditional = "vmf" if isinstance(space, Sphere) else "laplace"
    return full_objection(Model(space, conditional), values, np.zeros_like(values))


def codes(space: Space, law: Law) -> np.ndarray:
    return Marginal(space, law).sample(4000, torch.Generator().manual_seed(0)).numpy()


@pytest.mark.parametrize("dim", [2, 3, 8])
def test_codes_on_a_sphere_or_an_ellipsoid_speak_against_other_spaces(dim: int) -> None:
    stretched = codes(Sphere(dim), Uniform()) @ np.diag(np.geomspace(1, 5, dim)) + 3
    for space in (Box(dim), Real(dim)):
        assert "lie on a sphere" in str(objection(space, stretched))
    assert objection(Sphere(dim), stretched) is None


@pytest.mark.parametrize("dim", [2, 3, 8])
def test_codes_that_fill_a_box_speak_against_no_bounds(dim: int) -> None:
    found = codes(Box(dim), Uniform())
    assert objection(Box(dim), found) is None
    assert "fill a box" in str(objection(Real(dim), found))


def test_a_box_that_is_turned_says_nothing() -> None:
    turned = codes(Box(8), Uniform()) @ np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0]
    assert objection(Real(8), turned) is None


@pytest.mark.parametrize("law", [Normal(1.0), Laplace(1.0)])
def test_codes_with_tails_speak_against_a_box(law: Law) -> None:
    found = codes(Real(4), law)
    assert "do not fill a box" in str(objection(Box(4), found))
    assert objection(Real(4), found) is None


def test_one_code_has_no_sphere_to_lie_on() -> None:
    assert objection(Real(1), codes(Real(1), Normal(1.0))) is None


@pytest.mark.parametrize(
    ("law", "conditional", "refused"),
    [
        (Laplace(0.1), "laplace", False),
        (Laplace(0.1), "normal", False),
        (Laplace(0.1), GENNORM, False),
        (Normal(0.1), "laplace", True),
        (Normal(0.1), "normal", False),
        (GeneralizedNormal(3.0, 0.1), "laplace", True),
        (GeneralizedNormal(3.0, 0.1), GENNORM, False),
    ],
)
def test_partners_that_differ_as_by_normal_noise_speak_against_laplace(
    law: Law, conditional: str, refused: bool
) -> None:
    apart = codes(Real(4), law) * np.geomspace(1, 5, 4)
    found = full_objection(Model(Real(4), conditional), codes(Real(4), Normal(1.0)), apart)
    assert (found is not None) == refused
    assert not refused or "partners differ as by normal noise" in str(found)
