from __future__ import annotations

from collections.abc import Callable

import pytest

from identica._checks import InputError
from identica.models import Model
from identica.similarities import DotProduct, PowerDistance
from identica.spaces import Box, Real, Sphere


def test_models_choose_their_similarity() -> None:
    assert Model(Sphere(3), "vmf").similarity == DotProduct()
    assert Model(Box(3), "laplace").similarity == PowerDistance(1.0)
    assert Model(Box(3), "normal").similarity == PowerDistance(2.0)
    assert Model(Real(3), "gennorm(beta=4)").similarity == PowerDistance(4.0)


def test_models_have_names() -> None:
    assert Model.named("unbounded", "laplace", 5) == Model(Real(5), "laplace", "free")
    assert Model.named("unbounded", "laplace", 5, "equal") == Model(Real(5), "laplace")
    assert str(Model.named("box", "gennorm(beta=3)", 3)) == "box, gennorm(beta=3), free widths"
    assert str(Model.named("box", "gennorm(beta=3)", 3, "equal")) == "box, gennorm(beta=3)"


def test_a_von_mises_fisher_law_has_equal_widths_whatever_is_asked_for() -> None:
    assert Model.named("sphere", "vmf", 3) == Model.named("sphere", "vmf", 3, "equal") == Model(Sphere(3), "vmf")
    assert str(Model.named("sphere", "vmf", 3)) == "sphere, vmf"


def test_the_theory_leaves_a_map_open() -> None:
    assert Model(Sphere(3), "vmf").ambiguity == Model(Sphere(3), "laplace").ambiguity == "rotation"
    assert Model(Real(3), "normal").ambiguity == Model(Real(3), "gennorm(beta=2)").ambiguity == "affine map"
    assert Model(Real(3), "laplace").ambiguity == Model(Box(3), "normal").ambiguity == "permutation"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Model(Box(3), "vmf"), "the vmf model needs the sphere as model space, got 'box'"),
        (lambda: Model.named("torus", "laplace", 3), "unknown model space 'torus'"),
        (lambda: Model(Box(3), "lapace"), "unknown model conditional 'lapace': did you mean 'laplace'?"),
        (lambda: Model(Box(3), "gennorm(beta=0.5)"), "alpha must be at least 1, got 0.5"),
    ],
)
def test_bad_models_are_refused(make: Callable[[], Model], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)
