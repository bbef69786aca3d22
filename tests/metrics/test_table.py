from __future__ import annotations

import doctest
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from cases import grid, noise

from identica._checks import InputError
from identica.metrics import SCORES, Scorer, compute_scores, importances, linear_r2, quick_scores, symbol

Z = grid(3, 4, repeats=30)


def test_every_score_comes_by_name_with_its_chance() -> None:
    found = compute_scores(SCORES, Z, Z + 0.01 * noise(len(Z), 2))
    assert list(found) == list(SCORES)
    for name, score in found.items():
        assert -0.2 < score.chance < score.value <= 1 + 1e-12, name
        summary = score.summary()
        assert summary["value"] == pytest.approx(100 * score.value, abs=1e-3)
        assert len(summary["per_factor"]) == (0 if name in {"dci", "modularity"} else 2)
        assert len(summary.get("per_code", [0, 0])) == 2


def test_scores_that_share_trees_grow_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(*inputs: Any, **settings: Any) -> Any:
        calls.append(inputs)
        return boost(*inputs, **(settings | {"rounds": 2}))

    boost = importances.boost  # type: ignore[attr-defined]
    monkeypatch.setattr(importances, "boost", counted)
    compute_scores(["dci", "dci_completeness", "dci_informativeness"], Z, Z)
    assert len(calls) == 4  # two factors, for the codes and for the chance level


def test_names_and_kinds_are_checked_first() -> None:
    with pytest.raises(InputError, match=r"unknown score 'migg': did you mean 'mig'\? allowed: r2, mcc, .*sap"):
        compute_scores(["mcc", "migg"], Z, Z)
    with pytest.raises(
        InputError, match=r"unknown kind 'discrete'.*allowed: continuous, circular, ordinal, categorical"
    ):
        Scorer(Z, Z, ["discrete", "ordinal"])


def test_some_scores_are_quick() -> None:
    assert quick_scores(["dci", "mcc", "beta_vae", "mig"]) == ("mcc", "mig")
    assert (symbol("dci"), symbol("of yours")) == ("DCI", "of yours")


def test_r2_of_angles_and_categories() -> None:
    angles = np.random.default_rng(0).uniform(-np.pi, np.pi, size=(1000, 1))
    points = np.column_stack([np.sin(angles), np.cos(angles)])
    assert linear_r2(angles, points, kinds="circular").value == pytest.approx(1)
    assert linear_r2(angles, points).value < 0.8
    classes = np.random.default_rng(0).integers(0, 4, size=(1000, 1))
    assert linear_r2(classes, np.eye(4)[classes[:, 0]][:, :3], kinds="categorical").value == pytest.approx(1)
    assert linear_r2(Z, Z + noise(len(Z), 2), kinds="ordinal") == linear_r2(Z, Z + noise(len(Z), 2))


@pytest.mark.parametrize(
    "module", ["_groups", "importances", "mutual", "interventions", "prediction", "scores", "table"]
)
def test_examples_of_docstrings(module: str) -> None:
    loaded = import_module(f"identica.metrics.{module}")
    assert doctest.testmod(loaded, extraglobs={"np": np}).failed == 0
