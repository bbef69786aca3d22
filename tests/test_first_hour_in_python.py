"""What a new user stumbles on in Python, each case by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from identica import ContrastiveICA, _large, _training
from identica._checks import InputError
from identica.training import resolve_device
from identica.verdicts import judge

Array = NDArray[Any]
RANDOM = np.random.default_rng(0)
QUICK: dict[str, Any] = {"max_steps": 3, "batch_size": 32, "random_state": 0}
Z = RANDOM.uniform(size=(400, 3))
X = np.tanh(Z @ RANDOM.normal(size=(3, 3)))
X_POS = X + RANDOM.laplace(scale=0.05, size=X.shape)


def series(count: int = 300, dim: int = 3) -> Array:
    steps = np.random.default_rng(1).laplace(size=(count, dim))
    for t in range(1, count):
        steps[t] = 0.95 * steps[t - 1] + 0.3 * steps[t]
    return 5 + steps @ np.random.default_rng(2).normal(size=(dim, dim))


def attributes(model: ContrastiveICA) -> set[str]:
    return {name for name in vars(model) if name.endswith("_")}


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_fit_that_ends_early_leaves_the_estimator_as_it_was(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(*_: Any, **__: Any) -> None:
        raise error

    fitted = ContrastiveICA(2, **QUICK).fit(X, X_POS)
    before = fitted.transform(X)
    fresh = ContrastiveICA(2, **QUICK)
    monkeypatch.setattr(_training, "fit", end)
    for model in (fresh, fitted):
        with pytest.raises(error):
            model.fit(X[:, :2], X_POS[:, :2])
    assert attributes(fresh) == set()
    with pytest.raises(ValueError, match="not fitted"):
        fresh.transform(X)
    assert np.array_equal(fitted.transform(X), before)
    assert fitted.n_features_in_ == 3


def test_a_refused_refit_leaves_the_estimator_as_it_was() -> None:
    model = ContrastiveICA(2, **QUICK).fit(X, X_POS)
    with pytest.raises(InputError):
        model.fit(X[:3, :2], X_POS[:3, :2])
    assert model.transform(X).shape == (400, 2)


@pytest.mark.parametrize("lag", [1, 3])
def test_a_scaler_in_front_of_a_series_is_refused(lag: int) -> None:
    x = series()
    pipeline = make_pipeline(StandardScaler(), ContrastiveICA(2, **QUICK))
    with pytest.raises(InputError, match=r"in a Pipeline, the steps in front change X alone: .* pairs= or lag="):
        pipeline.fit(x[:-lag], x[lag:])
    assert ContrastiveICA(2, **QUICK).fit(x[:-lag], x[lag:]).n_pairs_ == 300 - lag
    scaled = StandardScaler().fit_transform(x)
    assert ContrastiveICA(2, **QUICK).fit(scaled[:-lag], scaled[lag:]).n_pairs_ == 300 - lag


def test_a_scaler_that_changes_little_is_found_in_a_series() -> None:
    x = StandardScaler().fit_transform(series())
    with pytest.raises(InputError, match="a later part of X but for a linear map"):
        ContrastiveICA(2, **QUICK).fit(1.05 * x[:-1], x[1:])


@pytest.mark.parametrize(
    ("numbers", "finding"),
    [
        ((2.0, 0.1, 2.2, 0.99), "supported"),
        ((2.0, 0.1, 2.2, None), "supported"),
        ((2.0, 0.1, 2.2, 0.85), "in part"),
        ((2.0, 0.1, 2.2, 0.3), "in part"),
        ((1.0, 0.1, 4.0, 0.99), "in part"),
        ((0.1, 0.1, 4.0, 0.99), "these pairs tell nothing"),
        ((-0.5, 0.01, 0.1, None), "these pairs tell nothing"),
        ((None, 0.0, None, None), "not checked"),
    ],
)
def test_the_verdict_is_of_bits_and_agreement(numbers: tuple[Any, ...], finding: str) -> None:
    verdict = judge(*numbers)
    assert verdict.finding == finding
    assert str(verdict).startswith(f"{finding}: ")


def test_a_fit_has_a_verdict(tmp_path: Path) -> None:
    settings = QUICK | {"max_steps": 100, "batch_size": 128, "encoder": "linear", "validation_fraction": "always"}
    latents = RANDOM.uniform(size=(2000, 2))
    near = latents + RANDOM.laplace(scale=0.05, size=latents.shape)
    mixing = RANDOM.normal(size=(2, 3))
    model = ContrastiveICA(2, refits=1, **settings).fit(latents @ mixing, near @ mixing)
    assert model.agreement_ is not None
    assert model.agreement_ > 0.8
    assert model.verdict_.finding in ("supported", "in part")
    assert f"{100 * model.agreement_:.0f} %" in model.verdict_.reason
    model.save(tmp_path / "model")
    assert ContrastiveICA.load(tmp_path / "model").verdict_ == model.verdict_
    with pytest.warns(UserWarning, match="do not tell the factors"):
        noise = ContrastiveICA(2, **settings).fit(*RANDOM.normal(size=(2, 500, 2)))
    assert noise.verdict_.finding == "these pairs tell nothing"
    assert ContrastiveICA(2, **QUICK).fit(X, X_POS).verdict_.finding == "not checked"


def test_few_pairs_are_refused() -> None:
    x = RANDOM.normal(size=(8, 13))
    with pytest.raises(InputError, match="3 components of 13 features need at least 13 pairs, got 6 pairs"):
        ContrastiveICA(3, lag=2, **QUICK).fit(x)


def test_constant_columns_are_refused() -> None:
    import pandas as pd

    x = X * [1, 0, 1] + [0, 7, 0]
    with pytest.raises(InputError, match=r"column 1 \(counted from 0\) is always 7"):
        ContrastiveICA(2, **QUICK).fit(x, X_POS)
    with pytest.raises(InputError, match="column 'b' is always 7"):
        ContrastiveICA(2, lag=1, **QUICK).fit(pd.DataFrame(x, columns=["a", "b", "c"]))


IMAGES = RANDOM.uniform(size=(40, 16, 18, 3))


def test_images_need_no_encoder_to_be_named() -> None:
    first = np.moveaxis(IMAGES, 3, 1)
    model = ContrastiveICA(2, lag=1, **QUICK).fit(first)
    assert model.chosen_["encoder"] == "conv"
    last = ContrastiveICA(2, lag=1, channels="last", **QUICK).fit(IMAGES)
    assert np.array_equal(last.transform(IMAGES), model.transform(first))
    by_pairs = ContrastiveICA(2, channels="last", **QUICK).fit(IMAGES[:-1], IMAGES[1:])
    assert by_pairs.transform(IMAGES).shape == (40, 2)


@pytest.mark.parametrize(
    ("settings", "values", "message"),
    [
        ({}, IMAGES, r"with channels last: give channels='last', or np.moveaxis\(X, 3, 1\)"),
        ({}, IMAGES[..., 0], "may be trials or images: give layout='trials' .* or layout='images'"),
        ({"encoder": "mlp"}, np.moveaxis(IMAGES, 3, 1), "encoder 'mlp' takes rows .* encoder='auto', 'conv'"),
        ({"layout": "cube"}, IMAGES, "unknown layout 'cube'"),
        ({"channels": "middle"}, IMAGES, "unknown channels 'middle'"),
    ],
)
def test_axes_that_may_mean_several_things_are_asked_about(
    settings: dict[str, Any], values: Array, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        ContrastiveICA(2, lag=1, **QUICK, **settings).fit(values)


def test_three_axes_are_what_is_said() -> None:
    grey = IMAGES[..., 0]
    assert ContrastiveICA(2, lag=1, layout="images", **QUICK).fit(grey).observation_shape_ == (1, 16, 18)
    trials = series(300).reshape(10, 30, 3)
    model = ContrastiveICA(2, lag=2, window=3, layout="trials", **QUICK).fit(trials)
    assert model.n_pairs_ == 10 * 28
    rows, labels = trials.reshape(300, 3), np.repeat(np.arange(10), 30)
    flat = ContrastiveICA(2, lag=2, window=3, **QUICK).fit(rows, trials=labels)
    codes = model.transform(trials)
    assert codes.shape == (10, 30, 2)
    assert np.array_equal(codes.reshape(300, 2), flat.transform(rows, trials=labels))
    assert model.score(trials) == flat.score(rows, trials=labels)
    with pytest.raises(InputError, match="trials must be left out"):
        model.fit(trials, trials=labels)


def test_a_sphere_has_the_law_of_a_sphere() -> None:
    assert ContrastiveICA(2, space="sphere", **QUICK).fit(X, X_POS).conditional_.startswith("vmf(")
    assert ContrastiveICA(2, **QUICK).fit(X, X_POS).conditional_.startswith("laplace(")


def test_tensors_that_require_a_gradient_are_taken() -> None:
    first, second = (torch.from_numpy(half).requires_grad_() for half in (X, X_POS))
    model = ContrastiveICA(2, **QUICK).fit(first, second)
    assert np.array_equal(model.transform(first), ContrastiveICA(2, **QUICK).fit(X, X_POS).transform(X))


def test_devices_are_named_as_torch_names_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = ContrastiveICA(2, device=torch.device("cpu"), **QUICK).fit(X, X_POS)
    model.save(tmp_path / "model")
    assert ContrastiveICA.load(tmp_path / "model").device == "cpu"
    with pytest.raises(InputError, match="device 'cuda:0' is not available here: allowed: auto, cpu"):
        resolve_device("cuda:0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert (resolve_device("cuda:1"), resolve_device(torch.device("cuda:0"))) == ("cuda:1", "cuda:0")
    with pytest.raises(InputError, match="cuda:2"):
        resolve_device("cuda:2")


def test_a_warm_start_goes_on() -> None:
    x, x_pos = X[:200], X_POS[:200]
    settings = QUICK | {"max_steps": 40}
    once = ContrastiveICA(2, warm_start=True, **settings).fit(x, x_pos)
    bits = once.score(X[200:], X_POS[200:])
    loss = once.loss_curve_[-1]["loss"]
    once.fit(x, x_pos)
    assert once.loss_curve_[0]["loss"] < ContrastiveICA(2, **settings).fit(x, x_pos).loss_curve_[0]["loss"]
    assert once.loss_curve_[0]["loss"] < loss + 0.5
    assert once.score(X[200:], X_POS[200:]) > bits - 0.5
    with pytest.raises(InputError, match="warm_start needs the assumption of the earlier fit"):
        once.set_params(space="unbounded").fit(x, x_pos)
    with pytest.raises(InputError, match="features"):
        once.set_params(space="box").fit(x[:, :2], x_pos[:, :2])
    cold = ContrastiveICA(2, **settings)
    assert np.array_equal(cold.fit(x, x_pos).transform(x), cold.fit(x, x_pos).transform(x))


def test_of_a_large_array_on_disk_only_blocks_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = series(3000).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    monkeypatch.setattr(_large, "_MOST_ROWS", 1000)
    monkeypatch.setattr(_large, "_BLOCKS", 10)
    monkeypatch.setattr(_large, "_PIECE_BYTES", 12 * 128)
    rows = _large.rows_to_read(mapped)
    assert rows is not None
    assert len(rows) == 1000
    assert np.array_equal(_large.take(mapped, rows), x[rows])
    model = ContrastiveICA(2, lag=2, **QUICK).fit(mapped, trials=np.arange(3000) // 1500)
    blocks = np.concatenate([[0], np.cumsum(np.diff(rows) != 1)])
    by_hand = ContrastiveICA(2, lag=2, **QUICK).fit(x[rows], trials=2 * blocks + rows // 1500)
    assert np.array_equal(model.transform(x), by_hand.transform(x))
    assert np.allclose(model.transform(mapped), model.transform(x))
    assert ContrastiveICA(2, **QUICK).fit(mapped[:-1], mapped[1:]).n_pairs_ == 1000
    pairs = np.stack([np.arange(0, 2900), np.arange(100, 3000)], axis=1)
    assert 400 < ContrastiveICA(2, **QUICK).fit(mapped, pairs=pairs).n_pairs_ <= 1000
    assert ContrastiveICA(2, lag=2, **QUICK).fit(x).n_pairs_ == 2998


def test_pairs_may_be_passed_whole_with_a_part_of_the_rows() -> None:
    pairs = np.stack([np.arange(399), np.arange(1, 400)], axis=1)
    part = np.arange(100, 300)
    by_rows = ContrastiveICA(2, **QUICK).fit(X[part], pairs=pairs.T, rows=part)
    by_hand = ContrastiveICA(2, **QUICK).fit(X[part], pairs=pairs[:199])
    assert np.array_equal(by_rows.transform(X), by_hand.transform(X))
    assert by_rows.score(X[part], pairs=pairs, rows=part) == by_hand.score(X[part], pairs=pairs[:199])
    with pytest.raises(InputError, match="pairs must have both halves among the 200 rows"):
        ContrastiveICA(2, **QUICK).fit(X[part], pairs=pairs, rows=part + 1000)
    with pytest.raises(InputError, match="rows needs pairs"):
        ContrastiveICA(2, **QUICK).fit(X, X_POS, rows=np.arange(400))
