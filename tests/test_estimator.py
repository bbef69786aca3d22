from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import Generator, nn

from identica import ContrastiveICA, _planning, _training
from identica._checks import InputError
from identica.assembly import fit
from identica.encoders import Encoder, Units, encode
from identica.fitting import HeldOut, held_out_bits
from identica.laws import Conditional, Laplace, Marginal, Uniform
from identica.learners import Contrastive, ContrastiveLearner
from identica.metrics import mcc
from identica.models import Model
from identica.sources import ArrayPairs, IndexPairing, LabelPairing, LagPairing, Layers, Pairing, lagged_pairs
from identica.spaces import Box

Array = NDArray[Any]
QUICK: dict[str, Any] = {"max_steps": 3, "batch_size": 32, "random_state": 0}


@parametrize_with_checks([ContrastiveICA(lag=1, max_steps=5, random_state=0)])
def test_it_keeps_scikit_learns_conventions(estimator: ContrastiveICA, check: Any) -> None:
    check(estimator)


def mixed_pairs(count: int, dim: int = 3) -> tuple[Array, Array, Array]:
    """Factors, their mixtures, and the partners of these."""
    generator = Generator().manual_seed(0)
    mixing = Layers().draw(dim, generator=generator)
    latents = Marginal(Box(dim), Uniform()).sample(count, generator)
    partners = Conditional(Box(dim), Laplace(0.05)).sample(latents, generator)
    with torch.no_grad():
        return latents.numpy(), mixing(latents).numpy(), mixing(partners).numpy()


def smooth_series(count: int, dim: int = 3) -> Array:
    """Observations of a series whose neighbours are alike."""
    random = np.random.default_rng(0)
    steps = random.laplace(size=(count, dim))
    for t in range(1, count):
        steps[t] = 0.95 * steps[t - 1] + 0.3 * steps[t]
    series: Array = steps @ random.normal(size=(dim, dim))
    return series


@pytest.fixture(scope="module")
def pairs() -> tuple[Array, Array, Array]:
    return mixed_pairs(6000)


@pytest.fixture(scope="module")
def fitted(pairs: tuple[Array, Array, Array]) -> ContrastiveICA:
    _, x, x_pos = pairs
    return ContrastiveICA(3, max_steps=400, batch_size=512, random_state=0).fit(x[:5000], x_pos[:5000])


def test_factors_are_recovered_in_units_of_the_box(fitted: ContrastiveICA, pairs: tuple[Array, Array, Array]) -> None:
    z, x, _ = pairs
    codes = fitted.transform(x[5000:])
    assert mcc(z[5000:], codes).value > 0.97
    assert codes.min() > -0.2
    assert codes.max() < 1.2
    assert fitted.ambiguity_ == "permutation"
    widths = json.loads(fitted.conditional_.removeprefix("laplace(scale=").removesuffix(")"))
    assert len(widths) == 3
    assert all(0.04 < width < 0.07 for width in widths)
    assert fitted.widths_ == pytest.approx(widths, rel=0.01)


def test_the_score_is_held_out_bits(fitted: ContrastiveICA, pairs: tuple[Array, Array, Array]) -> None:
    _, x, x_pos = pairs
    bits = fitted.score(x[5000:], x_pos[5000:])
    # Three times log₂(1 / 2eλ) is 5.64: what the factors tell of each other, apart from the edges of the box.
    assert 5.0 < bits < 6.5
    assert abs(bits - fitted.score(x[:1000], x_pos[:1000])) < 0.2
    assert fitted.score(x[5000:], x_pos[5000:][::-1]) < 0
    small = clone(fitted).set_params(batch_size=128).fit(x[:5000], x_pos[:5000])
    assert abs(small.score(x[5000:], x_pos[5000:]) - bits) < 0.5


def test_the_score_is_the_mutual_information_where_it_is_known() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(8000, 2))
    x_pos = x + 0.3 * generator.normal(size=x.shape)
    model = ContrastiveICA(space="unbounded", conditional="normal", max_steps=300, random_state=0).fit(x, x_pos)
    expected = 2 * 0.5 * math.log2(1 + 1 / 0.3**2)
    assert model.score(x[:4000], x_pos[:4000]) == pytest.approx(expected, abs=0.15)
    widths = json.loads(model.conditional_.removeprefix("normal(sigma=").removesuffix(")"))
    assert widths == pytest.approx([0.3, 0.3], rel=0.05)


def test_partners_by_time_are_partners_by_index(pairs: tuple[Array, Array, Array]) -> None:
    x = pairs[1][:200]
    by_lag = ContrastiveICA(lag=2, **QUICK).fit(x)
    by_index = ContrastiveICA(**QUICK).fit(x, pairs=lagged_pairs(200, 2))
    assert np.array_equal(by_lag.transform(x), by_index.transform(x))
    trials = np.repeat([0, 1], 100)
    assert not np.array_equal(by_lag.transform(x), ContrastiveICA(lag=2, **QUICK).fit(x, trials=trials).transform(x))


def test_partners_by_place_are_partners_by_name(pairs: tuple[Array, Array, Array]) -> None:
    _, x, x_pos = (array[:200] for array in pairs)
    by_place, by_name = ContrastiveICA(**QUICK).fit(x, x_pos), ContrastiveICA(**QUICK).fit(x, X_pos=x_pos)
    assert np.array_equal(by_place.transform(x), by_name.transform(x))


def test_the_same_seed_gives_the_same_fit_and_leaves_the_callers_alone(pairs: tuple[Array, Array, Array]) -> None:
    _, x, x_pos = (array[:300] for array in pairs)
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    first, second = (ContrastiveICA(**QUICK).fit(x, x_pos).transform(x) for _ in range(2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, ContrastiveICA(**QUICK | {"random_state": 1}).fit(x, x_pos).transform(x))
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_it_works_in_scikit_learns_tools(pairs: tuple[Array, Array, Array]) -> None:
    _, x, x_pos = (array[:300] for array in pairs)
    pipeline = make_pipeline(StandardScaler(), ContrastiveICA(2, **QUICK)).set_output(transform="pandas")
    both = np.concatenate([x, x_pos])
    index = np.arange(600).reshape(2, 300).T
    codes = pipeline.fit(both, contrastiveica__pairs=index).transform(x)
    assert list(codes.columns) == ["contrastiveica0", "contrastiveica1"]
    grid = GridSearchCV(ContrastiveICA(**QUICK), {"conditional": ["laplace", "normal"]}, cv=2).fit(x, x_pos)
    assert np.isfinite(grid.cv_results_["mean_test_score"]).all()
    by_time = GridSearchCV(ContrastiveICA(lag=1, **QUICK), {"space": ["box", "unbounded"]}, cv=2).fit(x)
    assert np.isfinite(by_time.best_score_)


def test_a_scaler_that_saw_half_of_the_pairs_is_noticed(pairs: tuple[Array, Array, Array]) -> None:
    _, x, x_pos = (array[:300] for array in pairs)
    with pytest.raises(InputError, match=r"X is standardised .* pass pairs= or lag="):
        make_pipeline(StandardScaler(), ContrastiveICA(**QUICK)).fit(100 * x + 50, 100 * x_pos + 50)
    with pytest.warns(UserWarning, match="another scale"):
        ContrastiveICA(**QUICK).fit(x, 100 * x_pos + 50)


def test_names_of_columns_are_kept(pairs: tuple[Array, Array, Array], tmp_path: Path) -> None:
    frame = pd.DataFrame(pairs[1][:200], columns=["a", "b", "c"])
    model = ContrastiveICA(lag=1, **QUICK).fit(frame)
    model.save(tmp_path / "model")
    again = ContrastiveICA.load(tmp_path / "model")
    assert list(again.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(InputError, match="feature names"):
        again.transform(frame[["c", "b", "a"]])


@pytest.mark.parametrize(
    ("space", "conditional"),
    [("sphere", "vmf"), ("box", "normal"), ("unbounded", "laplace"), ("box", "gennorm(beta=3)")],
)
def test_a_saved_model_comes_back(
    space: str, conditional: str, pairs: tuple[Array, Array, Array], tmp_path: Path
) -> None:
    _, x, x_pos = (array[:200] for array in pairs)
    model = ContrastiveICA(2, space=space, conditional=conditional, **QUICK).fit(x, x_pos)
    model.save(tmp_path / "model")
    again = ContrastiveICA.load(tmp_path / "model")
    assert np.array_equal(model.transform(x), again.transform(x))
    assert model.score(x, x_pos) == again.score(x, x_pos)
    assert again.get_params() == model.get_params()
    assert (again.conditional_, again.ambiguity_) == (model.conditional_, model.ambiguity_)
    if space == "sphere":
        assert np.allclose(np.linalg.norm(again.transform(x), axis=1), 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]


def test_an_older_model_is_replaced_and_nothing_else_is(pairs: tuple[Array, Array, Array], tmp_path: Path) -> None:
    _, x, x_pos = (array[:200] for array in pairs)
    first, second = (ContrastiveICA(**QUICK | {"random_state": seed}).fit(x, x_pos) for seed in (0, 1))
    first.save(tmp_path / "model")
    second.save(tmp_path / "model")
    assert np.array_equal(ContrastiveICA.load(tmp_path / "model").transform(x), second.transform(x))
    (tmp_path / "photos").mkdir()
    with pytest.raises(InputError, match="something else"):
        first.save(tmp_path / "photos")


def test_a_damaged_model_is_refused(pairs: tuple[Array, Array, Array], tmp_path: Path) -> None:
    _, x, x_pos = (array[:200] for array in pairs)
    ContrastiveICA(**QUICK).fit(x, x_pos).save(tmp_path / "model")
    weights, settings = tmp_path / "model" / "weights.safetensors", tmp_path / "model" / "model.json"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:100])
    with pytest.raises(InputError, match="weights of this model"):
        ContrastiveICA.load(tmp_path / "model")
    weights.write_bytes(whole)
    content = json.loads(settings.read_text())
    for broken in ({"format": 3}, {**content, "format": 2}, {**content, "fitted": {}}):
        settings.write_text(json.dumps(broken))
        with pytest.raises(InputError, match=r"model\.json"):
            ContrastiveICA.load(tmp_path / "model")
    with pytest.raises(InputError, match=r"has no model\.json"):
        ContrastiveICA.load(tmp_path)


def test_a_network_of_the_users_own(pairs: tuple[Array, Array, Array], tmp_path: Path) -> None:
    _, x, x_pos = (array[:200] for array in pairs)

    def network() -> nn.Module:
        return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 2))

    own = network()
    before = {name: value.clone() for name, value in own.state_dict().items()}
    model = ContrastiveICA(2, encoder=own, **QUICK).fit(x, x_pos)
    assert all(torch.equal(before[name], value) for name, value in own.state_dict().items())
    assert np.array_equal(model.transform(x), clone(model).fit(x, x_pos).transform(x))
    model.save(tmp_path / "model")
    again = ContrastiveICA.load(tmp_path / "model", encoder=network())
    assert np.array_equal(again.transform(x), model.transform(x))
    with pytest.raises(InputError, match="needs encoder="):
        ContrastiveICA.load(tmp_path / "model")
    with pytest.raises(InputError, match=r"n_components = 3 outputs, got shape \[2\]"):
        ContrastiveICA(3, encoder=own, **QUICK).fit(x, x_pos)
    with pytest.raises(InputError, match=r"encoder cannot take observations of shape \[2\]"):
        ContrastiveICA(2, encoder=own, **QUICK).fit(x[:, :2], x_pos[:, :2])


def test_a_network_that_folds_pixels_comes_back(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 255, size=(40, 64, 64), dtype=np.uint8)
    model = ContrastiveICA(2, lag=1, **QUICK).fit(images)
    assert model.encoder_[0].backbone.fold == 2
    model.save(tmp_path / "model")
    assert np.array_equal(ContrastiveICA.load(tmp_path / "model").transform(images), model.transform(images))


@pytest.mark.parametrize("encoder", ["conv", "light", "glimpse"])
def test_images(encoder: str, tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 255, size=(40, 16, 16), dtype=np.uint8)
    model = ContrastiveICA(2, encoder=encoder, lag=1, **QUICK).fit(images)
    codes = model.transform(images[:, None])
    assert codes.shape == (40, 2)
    model.save(tmp_path / "model")
    assert np.array_equal(ContrastiveICA.load(tmp_path / "model").transform(images), codes)
    with pytest.raises(InputError, match=r"shape \[1, 16, 16\]"):
        model.transform(images[:, :, :15])


def test_a_budget_of_seconds_is_kept(pairs: tuple[Array, Array, Array]) -> None:
    _, x, x_pos = (array[:500] for array in pairs)
    model = ContrastiveICA(max_seconds=0.5, batch_size=64, random_state=0).fit(x, x_pos)
    assert 1 < model.n_steps_ < 3000
    assert model.loss_curve_[0]["step"] == 1


def test_held_out_pairs_are_scored_and_not_fitted(pairs: tuple[Array, Array, Array]) -> None:
    _, x, x_pos = (array[:300] for array in pairs)
    model = ContrastiveICA(**QUICK, validation_fraction=0.1).fit(x, x_pos)
    assert (model.n_pairs_, model.n_held_out_pairs_) == (270, 30)
    assert model.validation_score_ is not None
    assert model.validation_score_ < math.log2(30)
    whole = ContrastiveICA(**QUICK).fit(x, x_pos)
    assert (whole.n_pairs_, whole.n_held_out_pairs_, whole.validation_score_) == (300, 0, None)


def test_of_a_series_the_ends_of_segments_are_held_out(tmp_path: Path) -> None:
    x = smooth_series(300)
    model = ContrastiveICA(lag=2, validation_fraction=0.1, **QUICK).fit(x)
    lagged = lagged_pairs(300, 2)
    places = lagged % 60  # five segments, with six rows at the end of each
    fitted, held_out = ((places >= low).all(axis=1) & (places < high).all(axis=1) for low, high in ((0, 54), (54, 60)))
    together = (lagged // 60)[:, 0] == (lagged // 60)[:, 1]
    fitted, held_out = lagged[fitted & together], lagged[held_out & together]
    assert (model.n_pairs_, model.n_held_out_pairs_) == (len(fitted), len(held_out)) == (5 * 52, 5 * 4)
    by_hand = ContrastiveICA(**QUICK).fit(x, pairs=fitted)
    assert np.array_equal(model.transform(x), by_hand.transform(x))
    scored = HeldOut(ArrayPairs(torch.from_numpy(by_hand.transform(x)), held_out), 0)
    bits = held_out_bits(model.model_, scored.first, scored.second)
    assert model.validation_score_ == pytest.approx(float(bits.mean()), rel=1e-3)
    model.save(tmp_path / "model")
    again = ContrastiveICA.load(tmp_path / "model")
    assert again.validation_score_ == model.validation_score_
    assert again.fitted_bits_ == model.fitted_bits_


def test_a_whole_number_is_the_seed_itself(pairs: tuple[Array, Array, Array]) -> None:
    _, x, x_pos = (array[:200] for array in pairs)
    codes = [ContrastiveICA(**QUICK | {"random_state": state}).fit(x, x_pos).transform(x) for state in (7, np.int64(7))]
    assert np.array_equal(*codes)
    settings = Contrastive(Model(Box(3), "laplace", "free"))
    recipe = settings.recipe("fast")
    recipe = replace(recipe, training=replace(recipe.training, steps=3, batch_size=32))
    source = ArrayPairs(torch.from_numpy(np.concatenate([x, x_pos])), np.arange(400).reshape(2, 200).T)
    learner = fit(settings, recipe, source, 7).learner
    assert isinstance(learner, ContrastiveLearner)
    assert np.array_equal(encode(learner.reader, torch.from_numpy(x)).float().numpy(), codes[0])


def test_other_random_states_draw_a_seed(pairs: tuple[Array, Array, Array]) -> None:
    _, x, x_pos = (array[:200] for array in pairs)

    def codes(state: Any) -> Array:
        return ContrastiveICA(**QUICK | {"random_state": state}).fit(x, x_pos).transform(x)

    assert np.array_equal(codes(np.random.RandomState(3)), codes(np.random.RandomState(3)))
    assert not np.array_equal(codes(None), codes(None))


@pytest.fixture
def short_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    """An open budget, of a few steps."""
    recipe = _training._recipe
    monkeypatch.setattr(_planning, "_SHORT_SCHEDULES", (5, 10))
    monkeypatch.setattr(_training, "_recipe", lambda *given: recipe(*given).with_steps(20))


@pytest.mark.usefixtures("short_schedules")
def test_held_out_pairs_choose_if_there_is_no_budget(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    latents = random.uniform(size=(150, 2))
    mixing = random.normal(size=(2, 3))
    x, x_pos = latents @ mixing, (latents + random.laplace(scale=0.05, size=latents.shape)) @ mixing
    model = ContrastiveICA(2, batch_size=64, random_state=0).fit(x, x_pos)
    assert (model.n_pairs_, model.n_held_out_pairs_) == (128, 22)
    assert len(model.search_) > 1
    assert {one["encoder"] for one in model.search_} > {"mlp"}
    best = [one for one in model.search_ if all(one[name] == value for name, value in model.chosen_.items())]
    assert len(best) == 1
    assert best[0]["held_out_bits"] == pytest.approx(model.validation_score_, abs=1e-3)
    assert best[0]["fitted_bits"] == pytest.approx(model.fitted_bits_, abs=1e-3)
    assert model.chosen_["steps"] == model.n_steps_ == model.loss_curve_[-1]["step"]
    assert all(math.isfinite(point["held_out_loss"]) for point in model.loss_curve_ if "held_out_loss" in point)
    assert "held_out_loss" in model.loss_curve_[-1]
    model.save(tmp_path / "model")
    again = ContrastiveICA.load(tmp_path / "model")
    assert np.array_equal(again.transform(x), model.transform(x))
    for name in ("chosen_", "search_", "loss_curve_", "fitted_bits_", "validation_score_", "n_held_out_pairs_"):
        assert getattr(again, name) == getattr(model, name)
    assert json.loads((tmp_path / "model" / "model.json").read_text())["format"] == 3


@pytest.mark.usefixtures("short_schedules")
def test_what_the_user_chose_is_not_searched() -> None:
    x = smooth_series(200, 8) * [1000, 1, 1, 1, 1, 1, 1, 1]  # in different units
    given = {"encoder": "linear", "pca_components": 4, "scaling": "robust", "window": 2}
    model = ContrastiveICA(2, lag=2, batch_size=32, random_state=0, **given).fit(x)
    assert {name: model.chosen_[name] for name in given} == given
    assert all(one[name] == value for one in model.search_ for name, value in given.items())
    free = ContrastiveICA(2, lag=2, batch_size=32, random_state=0).fit(x)
    for name, values in {"window": {1, 2}, "scaling": {"none", "robust"}}.items():
        assert {one[name] for one in free.search_} == values


def test_with_a_budget_nothing_is_chosen(pairs: tuple[Array, Array, Array]) -> None:
    _, x, x_pos = (array[:200] for array in pairs)
    model = ContrastiveICA(**QUICK, validation_fraction=0.2).fit(x, x_pos)
    expected = {"encoder": "mlp", "pca_components": None, "scaling": "none", "window": 1, "steps": 3}
    assert {name: model.chosen_[name] for name in expected} == expected
    assert len(model.search_) == 1
    assert model.validation_score_ == pytest.approx(model.search_[0]["held_out_bits"], abs=1e-3)
    without = ContrastiveICA(**QUICK).fit(x, x_pos)
    assert "held_out_bits" not in without.search_[0]
    assert (without.fitted_bits_, without.validation_score_) == (None, None)
    assert "held_out_loss" not in without.loss_curve_[-1]


@pytest.mark.parametrize("scaling", ["none", "sqrt", "log1p", "robust"])
def test_a_model_of_scaled_windows_comes_back(scaling: str, tmp_path: Path) -> None:
    x = 100 * smooth_series(120, 5)
    model = ContrastiveICA(2, lag=3, window=3, scaling=scaling, pca_components=4, **QUICK).fit(x)
    model.save(tmp_path / "model")
    again = ContrastiveICA.load(tmp_path / "model")
    assert again.get_params() == model.get_params()
    for trials in (None, np.repeat([0, 1], 60)):
        assert np.array_equal(again.transform(x, trials=trials), model.transform(x, trials=trials))
    assert again.score(x) == model.score(x)


def test_no_window_of_a_code_goes_across_two_trials() -> None:
    x = smooth_series(100)
    model = ContrastiveICA(lag=3, window=3, **QUICK).fit(x)
    whole, parted = model.transform(x), model.transform(x, trials=np.repeat(["a", "b"], 50))
    assert np.flatnonzero((whole != parted).any(axis=1)).tolist() == [49, 50]
    assert np.allclose(parted, np.concatenate([model.transform(x[:50]), model.transform(x[50:])]))
    with pytest.raises(InputError, match="trials must hold one label for each of the 100 samples"):
        model.transform(x, trials=[1, 2])


def test_several_lags_give_the_pairs_of_each() -> None:
    x = smooth_series(100)
    model = ContrastiveICA(lag=[1, 4], **QUICK).fit(x)
    assert model.n_pairs_ == 99 + 96
    by_hand = np.concatenate([lagged_pairs(100, 1), lagged_pairs(100, 4)])
    assert np.array_equal(model.transform(x), ContrastiveICA(**QUICK).fit(x, pairs=by_hand).transform(x))
    assert model.score(x) == pytest.approx(ContrastiveICA(**QUICK).fit(x, pairs=by_hand).score(x, pairs=by_hand))
    assert ContrastiveICA(lag=[4, 4], **QUICK).fit(x).n_pairs_ == 96


def test_labels_make_partners() -> None:
    random = np.random.default_rng(0)
    behaviour = random.uniform(size=400)
    x = np.stack([behaviour, random.uniform(size=400)], axis=1) @ random.normal(size=(2, 2))
    model = ContrastiveICA(1, max_steps=60, batch_size=128, encoder="linear", random_state=0).fit(x, labels=behaviour)
    assert abs(np.corrcoef(model.transform(x)[:, 0], behaviour)[0, 1]) > 0.95
    related = model.score(x, labels=behaviour)
    assert related > 1
    assert model.score(x, labels=random.permutation(behaviour)) < 0
    made = LabelPairing(behaviour).pairs()
    by_hand = clone(model).fit(x, pairs=made)
    assert np.array_equal(model.transform(x), by_hand.transform(x))
    assert by_hand.score(x, pairs=made) == pytest.approx(related)


def test_labels_and_a_lag_make_partners_close_in_time() -> None:
    x = smooth_series(100)
    labels = np.arange(100) % 3
    model = ContrastiveICA(lag=5, **QUICK).fit(x, labels=labels)
    assert np.array_equal(model.transform(x), ContrastiveICA(lag=3, **QUICK).fit(x).transform(x))
    trials = np.repeat([0, 1], 50)
    assert ContrastiveICA(lag=5, **QUICK).fit(x, labels=labels, trials=trials).n_pairs_ == 2 * 47


def test_unrelated_pairs_are_warned_of() -> None:
    x, x_pos = np.random.default_rng(0).normal(size=(2, 300, 3))
    with pytest.warns(UserWarning, match=r"these pairs do not tell the factors: .* share -\d+\.\d\d bits"):
        model = ContrastiveICA(**QUICK, validation_fraction=0.5).fit(x, x_pos)
    assert model.validation_score_ is not None
    assert model.validation_score_ <= 0


def by_two_arrays() -> tuple[Array, Pairing, dict[str, Any]]:
    return np.concatenate([GOOD, NEAR]), IndexPairing(100, np.arange(100).reshape(2, 50).T), {}


def by_one_lag() -> tuple[Array, Pairing, dict[str, Any]]:
    return smooth_series(200), LagPairing(200, [2]), {"lag": 2}


def by_windows() -> tuple[Array, Pairing, dict[str, Any]]:
    settings = {"n_components": 2, "lag": 3, "window": 3, "scaling": "robust", "pca_components": 4}
    return smooth_series(200, 5), LagPairing(200, [3], np.repeat(np.arange(20), 10)), settings


def by_labels() -> tuple[Array, Pairing, dict[str, Any]]:
    x = smooth_series(100)
    return x, LabelPairing(x[:, 0]), {}


@pytest.mark.filterwarnings("ignore:these pairs do not tell the factors")
@pytest.mark.parametrize("make", [by_two_arrays, by_one_lag, by_windows, by_labels])
def test_nothing_of_held_out_rows_is_seen(make: Any) -> None:
    x, pairing, settings = make()
    rows = pairing.held_out(0.4, 4096, 0)
    settings = QUICK | settings | {"validation_fraction": 0.4, "random_state": 5}

    def fit_on(values: Array) -> ContrastiveICA:
        if isinstance(pairing, IndexPairing):
            return ContrastiveICA(**settings).fit(values, pairs=pairing.indices)
        if isinstance(pairing, LabelPairing):
            return ContrastiveICA(**settings).fit(values, labels=x[:, 0])
        return ContrastiveICA(**settings).fit(values, trials=pairing.runs)

    def weights(model: ContrastiveICA) -> dict[str, Array]:
        return {name: value.numpy() for name, value in model.encoder_.state_dict().items()}

    plain = weights(fit_on(x))
    changed = x.copy()
    changed[rows] = 50 - 20 * x[rows]
    for name, value in weights(fit_on(changed)).items():
        assert np.array_equal(value, plain[name]), f"{name} has seen what was held out"
    changed = x.copy()
    changed[~rows] = 50 - 20 * x[~rows]
    assert any(not np.array_equal(value, plain[name]) for name, value in weights(fit_on(changed)).items())


def test_the_encoder_gives_codes_in_units_of_the_box(fitted: ContrastiveICA, pairs: tuple[Array, Array, Array]) -> None:
    encoder, turn, units = fitted.encoder_
    assert isinstance(encoder, Encoder)
    assert isinstance(units, Units)
    values = torch.from_numpy(pairs[1][:50])
    with torch.no_grad():
        read = units(turn(encoder(values))).numpy()
    assert np.allclose(read, fitted.transform(pairs[1][:50]), atol=1e-4)


def test_observations_far_from_the_origin_can_be_told_apart() -> None:
    z, x, x_pos = mixed_pairs(3000)
    model = ContrastiveICA(3, max_steps=300, batch_size=512, random_state=0).fit(x + 1000, x_pos + 1000)
    assert mcc(z, model.transform(x + 1000)).value > 0.9


GOOD = np.random.default_rng(0).normal(size=(50, 3))
NEAR = GOOD + 0.1 * np.random.default_rng(1).normal(size=GOOD.shape)


@pytest.mark.parametrize(
    ("settings", "arguments", "message"),
    [
        ({"space": "torus"}, (GOOD, NEAR), "unknown space 'torus'"),
        ({"space": "spher"}, (GOOD, NEAR), "did you mean 'sphere'"),
        ({"conditional": "cauchy"}, (GOOD, NEAR), "conditional 'cauchy'"),
        ({"conditional": "gennorm"}, (GOOD, NEAR), "did you mean 'gennorm(beta=3)'"),
        ({"conditional": "gennorm(beta=0.5)"}, (GOOD, NEAR), "alpha must be at least 1, got 0.5"),
        ({"conditional": "vmf"}, (GOOD, NEAR), "vmf model needs the sphere"),
        ({"conditional": 3}, (GOOD, NEAR), "conditional must be a name"),
        ({"encoder": "transformer"}, (GOOD, NEAR), "unknown encoder 'transformer'"),
        ({"encoder": "conv"}, (GOOD, NEAR), "X must be images"),
        ({"n_components": 0}, (GOOD, NEAR), "n_components must be a whole number of at least 1, got 0"),
        ({"n_components": 4}, (GOOD, NEAR), "n_components must be at most the number of features 3, got 4"),
        ({"n_components": 1, "space": "sphere", "conditional": "vmf"}, (GOOD, NEAR), "at least 2 on a sphere"),
        ({"lag": 0}, (GOOD,), "lag must be a whole number of at least 1, got 0"),
        ({"lag": 50}, (GOOD,), "lag must be below the number of samples 50, got 50"),
        ({"lag": 1}, (GOOD, NEAR), "give positive pairs in one way: X_pos, pairs, lag or labels; got X_pos and lag"),
        ({"max_steps": -1}, (GOOD, NEAR), "max_steps must be"),
        ({"max_seconds": 0}, (GOOD, NEAR), "max_seconds must be"),
        ({"batch_size": 1}, (GOOD, NEAR), "batch_size must be at least 2, got 1"),
        ({"validation_fraction": 1.0}, (GOOD, NEAR), "fraction must be 'auto', 'always' or from 0 to below 1, got 1.0"),
        (
            {"validation_fraction": -0.1},
            (GOOD, NEAR),
            "fraction must be 'auto', 'always' or from 0 to below 1, got -0.1",
        ),
        ({"validation_fraction": "some"}, (GOOD, NEAR), "validation_fraction must be 'auto', 'always' or from 0 to"),
        ({"window": 3}, (GOOD, NEAR), "window needs lag, which makes X a time series; got window=3 without lag"),
        ({"window": 0, "lag": 1}, (GOOD,), "window must be a whole number of at least 1, got 0"),
        ({"window": None, "lag": 1}, (GOOD,), "window must be 'auto' or a whole number from 1, got None"),
        ({"scaling": "root"}, (GOOD, NEAR), "unknown scaling 'root'"),
        ({"scaling": "log"}, (GOOD, NEAR), "did you mean 'log1p'"),
        ({"widths": "same"}, (GOOD, NEAR), "unknown widths 'same'"),
        ({"pca_components": "all"}, (GOOD, NEAR), "pca_components must be a whole number of at least 1, got 'all'"),
        ({"lag": []}, (GOOD,), "lag must be a whole number from 1 or several, got none"),
        ({"lag": [1, 0]}, (GOOD,), "lag must be a whole number of at least 1, got 0"),
        ({"lag": [1, 2.5]}, (GOOD,), "lag must be a whole number of at least 1, got 2.5"),
        ({"lag": "1"}, (GOOD,), "lag must be a whole number of at least 1, got '1'"),
        ({"lag": [1, 50]}, (GOOD,), "lag must be below the number of samples 50, got 50"),
        ({"random_state": -1}, (GOOD, NEAR), "random_state must be a whole number from 0"),
        ({"device": "tpu"}, (GOOD, NEAR), "device 'tpu' is not available"),
        ({}, (GOOD,), "give positive pairs in one way: X_pos, pairs, lag or labels; got none"),
        ({}, (GOOD, NEAR[:-1]), "X_pos must have the shape of X, [50, 3], got [49, 3]"),
        ({}, (GOOD, GOOD), "each observation is its own partner"),
        ({}, (GOOD * np.nan, NEAR), "X must be finite, got 150 NaN"),
        ({}, (GOOD, NEAR + np.inf), "X_pos must be finite"),
        ({}, (GOOD[:3], NEAR[:3]), "3 components of 3 features need at least 8 pairs, got 3 pairs"),
        ({}, (GOOD[:, 0], NEAR), "X cannot be used: Expected 2D array"),
        ({}, ([["a", "b"]] * 9, NEAR), "X cannot be used: could not convert string"),
        ({}, (GOOD + 1j, NEAR), "X cannot be used: Complex data"),
    ],
)
def test_bad_input_gets_one_line(settings: dict[str, Any], arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError) as caught:
        ContrastiveICA(**settings).fit(*arguments)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"pairs": [[0, 50]]}, "pairs must index the 50 samples from 0, got 0 to 50"),
        ({"pairs": [0, 1]}, "pairs must be whole numbers of shape [pairs, 2]"),
        ({"pairs": [[0.5, 1]]}, "pairs must be whole numbers"),
        ({"pairs": np.empty((0, 2), int)}, "at least one pair"),
        ({"X_pos": NEAR, "trials": np.zeros(50)}, "trials needs lag"),
        ({"X_pos": NEAR, "pairs": [[0, 1]]}, "got X_pos and pairs"),
        ({"X_pos": NEAR, "labels": np.arange(50)}, "got X_pos and labels"),
        ({"labels": np.arange(49)}, "labels must be one for each of the 50 samples, got shape [49]"),
        ({"labels": np.full(50, np.nan)}, "labels must be finite"),
        ({"labels": np.arange(50)}, "labels leave no pairs"),
    ],
)
def test_bad_pairs_get_one_line(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        ContrastiveICA().fit(GOOD, **keywords)
    assert message in str(caught.value)
    with pytest.raises(InputError, match="trials must hold one label for each of the 50 samples"):
        ContrastiveICA(lag=1).fit(GOOD, trials=[1, 2])
    with pytest.raises(InputError, match="no trial is longer than the lag"):
        ContrastiveICA(lag=1).fit(GOOD, trials=np.arange(50))
