from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import ortho_group
from sklearn.decomposition import PCA, FastICA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from identica import ContrastiveICA, consistency
from identica._checks import InputError
from identica.validation import refit

RANDOM = np.random.default_rng(0)
CODES = RANDOM.uniform(size=(2000, 3))
ROTATION = ortho_group.rvs(3, random_state=0)
ON_SPHERE = CODES / np.linalg.norm(CODES, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("other", "ambiguity", "agrees"),
    [
        (-2 * CODES[:, [2, 0, 1]] + 5, "permutation", True),
        (CODES @ ROTATION, "permutation", False),
        (CODES @ ROTATION, "affine map", True),
        (CODES @ np.array([[1, 2, 0], [0, 1, 0], [0, 3, 1]]) - 4, "affine map", True),
        (ON_SPHERE @ ROTATION, "rotation", True),
        (RANDOM.uniform(size=CODES.shape), "affine map", False),
        (RANDOM.uniform(size=CODES.shape), "permutation", False),
    ],
)
def test_runs_agree_up_to_the_allowed_map(other: np.ndarray, ambiguity: Any, agrees: bool) -> None:
    first = ON_SPHERE if ambiguity == "rotation" else CODES
    found = consistency([first, other], ambiguity=ambiguity)
    assert (found.score > 0.999) == agrees
    assert ("Refits agree up to" in found.verdict) == agrees
    assert np.allclose(np.diag(found.agreement), 1)
    assert len(found.per_component) == 3


def test_components_are_judged_one_by_one() -> None:
    other = CODES.copy()
    other[:, 1] = RANDOM.uniform(size=len(CODES))
    found = consistency([CODES, other, other])
    assert found.per_component[0] > 0.999 > 0.2 > found.per_component[1]
    assert "2 of 3 components" in found.verdict
    assert found.summary()["runs"] == 3
    assert "by component" in str(found)


def test_any_transformer_can_be_refitted() -> None:
    mixed = CODES @ RANDOM.normal(size=(3, 5))
    found = consistency(make_pipeline(StandardScaler(), FastICA(3, whiten="unit-variance")), mixed, seeds=2, n_jobs=1)
    assert found.score > 0.99
    assert found.ambiguity == "permutation"


def test_the_assumption_says_what_is_allowed(tmp_path: Path) -> None:
    codes = CODES[:500]
    partners = codes + 0.05 * RANDOM.normal(size=codes.shape)
    estimator = ContrastiveICA(space="unbounded", conditional="normal", max_steps=2)
    runs = refit(estimator, codes, partners, seeds=2, n_jobs=1)
    assert [run.random_state for run in runs] == [0, 1]
    for number, run in enumerate(runs):
        run.save(tmp_path / str(number))
    found = consistency([tmp_path / "0", tmp_path / "1"], codes)
    assert found.ambiguity == "affine map"
    assert np.array_equal(found.agreement, consistency(runs, codes).agreement)
    other = ContrastiveICA(max_steps=2).fit(codes, partners)
    with pytest.raises(InputError, match="must share one assumption"):
        consistency([runs[0], other], codes)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: consistency([CODES]), "at least two runs"),
        (lambda: consistency([CODES, CODES[:, :2]]), "codes of one shape"),
        (lambda: consistency([CODES, CODES[:, 0]]), "codes must have shape"),
        (lambda: consistency([CODES, CODES], ambiguity="shear"), "unknown ambiguity 'shear'"),
        (lambda: consistency([PCA(2).fit(CODES)] * 2), "X must be given"),
        (lambda: consistency(StandardScaler(), CODES), "StandardScaler has none"),
        (lambda: refit(FastICA(), CODES, seeds=1), "seeds must be at least 2"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
