from __future__ import annotations

import pytest
import torch

from identica._checks import InputError
from identica.laws import GeneralizedNormal, Laplace, Law, Normal, VonMisesFisher
from identica.similarities import DotProduct, PowerDistance, Similarity, log_sums

MATCHED: list[tuple[Similarity, Law, float, float]] = [
    (DotProduct(), VonMisesFisher(10.0), 10**0.5, 10),
    (PowerDistance(1.0), Laplace(0.05), 20.0, 20),
    (PowerDistance(2.0), Normal(0.05), 200**0.5, 200),
    (PowerDistance(3.0), GeneralizedNormal(3.0, 0.05), 20.0, 8000),
]
"""A similarity, a law of its family, the scale of the codes at which they match, and the slope there."""


@pytest.mark.parametrize(("similarity", "conditional", "scale", "slope"), MATCHED, ids=str)
def test_a_law_is_matched_by_its_slope_and_found_by_its_scale(
    similarity: Similarity, conditional: Law, scale: float, slope: float
) -> None:
    assert similarity.matched_slope(conditional) == pytest.approx(slope)
    assert vars(similarity.law(scale)) == pytest.approx(vars(conditional))
    assert type(similarity.law(scale)) is type(conditional)


def test_a_model_of_another_family_has_no_matched_slope() -> None:
    for similarity, conditional in (
        (DotProduct(), Normal(0.05)),
        (PowerDistance(1.0), Normal(0.05)),
        (PowerDistance(2.0), Laplace(0.05)),
        (PowerDistance(2.0), GeneralizedNormal(3.0, 0.05)),
    ):
        assert similarity.matched_slope(conditional) is None


@pytest.mark.parametrize("similarity", [DotProduct(), *map(PowerDistance, (1.0, 2.0, 3.0, 4.0))], ids=str)
def test_sums_are_those_of_all_pairs(similarity: Similarity, generator: torch.Generator) -> None:
    anchors, candidates = torch.randn(7, 3, generator=generator), torch.randn(11, 3, generator=generator)
    every = torch.stack([similarity.paired(anchors, candidate.expand(7, 3)) for candidate in candidates], dim=1)
    assert torch.allclose(log_sums(similarity, anchors, candidates), every.logsumexp(dim=1), atol=1e-5)


def test_powers_below_one_are_refused() -> None:
    with pytest.raises(InputError, match=r"alpha must be at least 1, got 0\.5"):
        PowerDistance(0.5)
