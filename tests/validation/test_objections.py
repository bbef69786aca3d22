"""What the shape of codes says against a space."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from identica.laws import Conditional, GeneralizedNormal, Laplace, Law, Marginal, Normal, Uniform
from identica.models import Model
from identica.spaces import Box, Real, Space, Sphere
from identica.validation._objections import objection as full_objection
from identica.validation._objections import shows_light_tails

GENNORM = "gennorm(beta=3)"


def objection(space: Space, values: np.ndarray) -> str | None:
    """Of the space alone: no law is refused for partners that do not differ."""
    conditional = "vmf" if isinstance(space, Sphere) else "laplace"
    return full_objection(Model(space, conditional), values, values, values)


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
    first = codes(Real(4), Normal(1.0))
    found = full_objection(Model(Real(4), conditional), first, first, first + apart)
    assert (found is not None) == refused
    assert not refused or "partners differ as by normal noise" in str(found)


@pytest.mark.parametrize("law", [Laplace(0.035), Laplace(0.14), Normal(0.1), GeneralizedNormal(3.0, 0.1)])
def test_noise_that_is_confined_to_a_box_says_nothing_against_it(law: Law) -> None:
    generator = torch.Generator().manual_seed(0)
    first = Marginal(Box(4), Uniform()).sample(2000, generator)
    second = Conditional(Box(4), law).sample(first, generator)
    model = Model(Box(4), "laplace" if isinstance(law, Laplace) else "normal")
    assert full_objection(model, first.numpy(), first.numpy(), second.numpy()) is None


@pytest.mark.parametrize("marginal", [Normal(1.0), Laplace(1.0)])
def test_an_unbounded_space_that_is_squeezed_into_a_box_is_seen(marginal: Law) -> None:
    """Codes are uniform then, and partners in the tails are near each other."""
    generator = torch.Generator().manual_seed(0)
    first = Marginal(Real(4), marginal).sample(2000, generator)
    second = Conditional(Real(4), GeneralizedNormal(3.0, 0.3)).sample(first, generator)
    law = stats.norm() if isinstance(marginal, Normal) else stats.laplace()
    squeezed = law.cdf(first.numpy()), law.cdf(second.numpy())
    found = full_objection(Model(Box(4), "laplace"), squeezed[0], *squeezed)
    assert "a larger space is squeezed into the box" in str(found)


@pytest.mark.parametrize(("beta", "shown"), [(3.0, True), (2.0, False)])
def test_light_tails_are_seen_and_a_turn_of_the_axes_hides_them(beta: float, shown: bool) -> None:
    model = Model(Real(6), "gennorm(beta=3)")
    apart = stats.gennorm(beta).rvs((4000, 6), random_state=0)
    assert shows_light_tails(model, apart) is shown
    turned = apart @ stats.ortho_group.rvs(6, random_state=0)
    assert not shows_light_tails(model, turned)
    assert not shows_light_tails(Model(Real(6), "normal"), apart)
