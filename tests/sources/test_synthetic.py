from __future__ import annotations

import pytest
import torch

from identica._checks import InputError
from identica.laws import Conditional, Laplace, Law, Marginal, Normal, Uniform, VonMisesFisher
from identica.sources import Layers, Synthetic, SyntheticPairs
from identica.spaces import Box, Real, Sphere

BOX = Synthetic(Box(4), Laplace(0.05))


def test_pairs_are_mixtures_of_related_latents(generator: torch.Generator) -> None:
    box = Box(4)
    mixing = Layers().draw(4, 6, generator=generator, draws=100)
    source = SyntheticPairs(Marginal(box, Uniform()), Conditional(box, Laplace(0.05)), mixing)
    assert source.shape == (6,)
    assert [factor.kind for factor in source.factors] == ["continuous"] * 4
    anchors, positives = (mixing.inverse(x) for x in source.pairs(500, generator))
    assert anchors.shape == (500, 4)
    assert float((anchors - positives).abs().mean()) == pytest.approx(0.05, abs=0.01)


def test_factors_come_with_their_observations(generator: torch.Generator) -> None:
    source = BOX.build(0)
    factors, observations = source.with_factors(100, generator)
    assert torch.allclose(source.mixing(factors), observations)
    assert source.sample(7, generator).shape == (7, 4)


def test_shuffled_pairs_have_nothing_in_common(generator: torch.Generator) -> None:
    apart = []
    for shuffled in (False, True):
        source = Synthetic(Box(4), Laplace(0.05), shuffled=shuffled).build(0)
        anchors, positives = (source.mixing.inverse(x) for x in source.pairs(2000, generator))
        apart.append(float((anchors - positives).abs().mean()))
    assert apart == [pytest.approx(0.05, abs=0.01), pytest.approx(1 / 3, abs=0.02)]


def test_the_seed_decides_the_mixing() -> None:
    first, again, other = (BOX.build(seed).mixing.weights[0] for seed in (3, 3, 4))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    # The mixing hangs on the seed and its own settings alone.
    assert torch.equal(first, BOX.unpaired().build(3).mixing.weights[0])


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (Synthetic(Box(10), Laplace(0.05)), "box, uniform, laplace(scale=0.05)"),
        (Synthetic(Sphere(10), VonMisesFisher(1), Normal(1)), "sphere, normal(sigma=1), vmf(kappa=1)"),
        (Synthetic(Real(10), None, Normal(1)), "unbounded, normal(sigma=1)"),
        (Synthetic(Box(10), Laplace(0.1), observed=20), "box, uniform, laplace(scale=0.1), N = 10, K = 20"),
        (Synthetic(Box(3), Laplace(0.1)), "box, uniform, laplace(scale=0.1), N = 3, K = 3"),
        (
            Synthetic(Box(10), Laplace(0.1), mixing=Layers(layers=5, activation="wave"), shuffled=True),
            "box, uniform, laplace(scale=0.1), layers(layers=5, activation=wave), shuffled pairs",
        ),
    ],
)
def test_a_source_prints_what_is_not_the_papers(source: Synthetic, text: str) -> None:
    assert str(source) == text


def test_as_many_coordinates_as_latents_need_not_be_said() -> None:
    assert Synthetic(Box(3), Laplace(0.1), observed=3) == Synthetic(Box(3), Laplace(0.1))


def test_a_sentence_tells_where_pairs_come_from() -> None:
    assert BOX.describe() == (
        "4 factors (box, uniform) were mixed by a random network. The factors of pairs differ by laplace(scale=0.05)."
    )
    assert "but are shuffled." in Synthetic(Box(4), Laplace(0.05), shuffled=True).describe()
    assert BOX.unpaired().describe() == "4 factors (box, uniform) were mixed by a random network."


def test_without_pairs_there_is_no_conditional(generator: torch.Generator) -> None:
    settings = Synthetic(Box(4), Laplace(0.05), Normal(1), 6, Layers(layers=2), shuffled=True)
    assert settings.unpaired() == Synthetic(Box(4), None, Normal(1), 6, Layers(layers=2))
    assert settings.unpaired() == settings.unpaired().unpaired()
    with pytest.raises(InputError, match="conditional must be given to draw pairs, got None"):
        settings.unpaired().build(0).pairs(3, generator)


def test_bad_sources_are_refused(generator: torch.Generator) -> None:
    mixing = Layers().draw(4, generator=generator, draws=10)
    with pytest.raises(InputError, match="must share one space"):
        SyntheticPairs(Marginal(Box(4), Uniform()), Conditional(Sphere(4), Laplace(0.1)), mixing)
    with pytest.raises(InputError, match="mixing must take 5 latents, got one for 4"):
        SyntheticPairs(Marginal(Box(5), Uniform()), Conditional(Box(5), Laplace(0.1)), mixing)


@pytest.mark.parametrize(
    ("law", "observed", "message"),
    [
        (VonMisesFisher(1), None, "lives on a sphere"),
        (Laplace(1), 2, "observed must be at least the 3 latents, got 2"),
    ],
)
def test_bad_descriptions_are_refused(law: Law, observed: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Synthetic(Box(3), law, observed=observed)
    with pytest.raises(InputError, match="uniform law needs a bounded space"):
        Synthetic(Real(3), Laplace(1))
