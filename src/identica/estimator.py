"""The scikit-learn face of the method: fit pairs, transform observations, score held-out pairs, save and load."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from identica import _checks, _large, _model_folder, _observing, _pairing, _planning, _training
from identica._findings import Findings
from identica._observing import Observed
from identica._pairing import Partners
from identica.encoders import Scaling, encode
from identica.information import bits_of_pairs
from identica.learners import Axes, Contrastive
from identica.models import Model, Widths
from identica.sources import Pairing, runs_of, stack_windows
from identica.training import resolve_device

__all__ = ["ContrastiveICA"]

_CURVE_POINTS = 100


class ContrastiveICA(Findings, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Recover the factors z behind observations x = g(z) from pairs (x, x~) of related ones.

    An encoder f is trained to tell from x~ which x it came from: InfoNCE with the similarity that fits the assumed
    space of z and the assumed family of p(z~ | z). If the assumption holds, f ∘ g is a rotation, an affine map or a
    permutation (`ambiguity_`).

    Args:
        n_components: Number of factors; as many as features if not given.
        space: Where factors live: `sphere` (codes of norm 1), `box` (codes in about [0, 1]) or `unbounded` (codes of
            mean 0 and variance 1).
        conditional: How partners scatter around each other: `vmf` (on the sphere), `laplace`, `normal`, or
            `gennorm(beta=3)`, any exponent. Its width is learnt. `auto` is `vmf` on the sphere, else `laplace`.
        widths: `free` fits a width of the conditional to each component, `equal` one to all, as the paper does.
        axes: `learnt`, or for `unbounded` and `normal`, which leave a rotation open, `second-order`: the basis in which
            the covariances of components and of partner differences are diagonal. Justified if all widths differ.
        encoder: `linear`, `mlp` or `deep mlp` for arrays of features, `conv`, `light`, `glimpse` or `resnet` for images
            [samples, channels, height, width], or any `torch.nn.Module` with `n_components` outputs. `auto` chooses by
            held-out pairs.
        pca_components: Keep so many directions of the features, those of most variance; None for all of them. `auto`
            chooses by held-out pairs.
        scaling: What each value passes first: `none`, `sqrt` or `log1p` (for counts), `robust` (for different units
            and outliers). `auto` chooses by held-out pairs among those that fit the kind of data.
        noise: Deviation of noise on whitened observations in training, against learning few pairs by heart. `auto`
            chooses by held-out pairs.
        lag: For a time series: rows t and t + lag of X are a pair. One whole number, or several.
        window: For a time series: how many rows around t the encoder sees at a time. `auto` chooses by held-out pairs
            between one row and as many as the lag.
        max_steps: Number of updates. If neither budget is given, as many as the held-out pairs bear, and at most those
            of the recipe for the assumption. With a budget, nothing else is chosen by held-out pairs either: `auto`
            is then an `mlp` on all directions of single rows as they are.
        max_seconds: Time for training; the result then depends on the speed of the machine.
        batch_size: Pairs in an update; 1024 for arrays and 128 for images if not given.
        validation_fraction: Part of the pairs that is held out and scored, not fitted: whole trials or the ends of
            segments of a time series, otherwise drawn at random. `auto` is 0.15 (at most 4096 pairs), or 0 with a
            budget; `always` is 0.15 with a budget too. What is held out does not depend on `random_state`.
        refits: How often to fit again with other seeds, to see whether they find the same (`agreement_`); 0 by default.
        warm_start: Go on from the earlier fit, on these pairs: its network and settings, for `max_steps` or as many
            steps as it had.
        layout: What three axes of X are: `trials` [trials, time, channels], or `images` [samples, height, width].
            `auto` takes bytes for images, and asks about numbers.
        channels: Where images have their channels: `first`, or `last` for [samples, height, width, channels].
        device: `auto`, `cpu`, `cuda`, `cuda:1` or `mps`, or a `torch.device`.
        random_state: Seed of the weights and of the batches: a whole number makes fits repeatable. An experiment on the
            same source with that seed ends with the same weights.
        verbose: Show a progress bar with the time left.

    Attributes:
        encoder_: The trained network.
        conditional_: The fitted p(z~ | z), in units of the codes, such as `laplace(scale=[0.05, 0.1])`.
        widths_: Its width in each component, in units of its code: small where partners are close, infinite for a
            component that is not used.
        components_used_: Numbers of the components that tell something about partners that the others do not.
        ambiguity_: Up to which map the theory identifies the factors.
        chosen_: What was fitted in the end: encoder, pca_components, scaling, noise, window and steps.
        search_: All that was tried, with the bits of held-out and of fitted pairs.
        loss_curve_: Step, loss and held-out loss, at up to a hundred steps.
        n_steps_: Number of updates.
        n_pairs_: Number of pairs that were fitted.
        n_held_out_pairs_: Number of pairs that were held out.
        validation_score_: Bits a pair on the pairs that were held out; None if there are none.
        validation_error_: The standard error of that.
        fitted_bits_: Bits a pair on as many fitted pairs; far above `validation_score_` if pairs were learnt by heart.
        agreement_: How well components come back in refits, from 0 to 1; None if there are none.
        verdict_: What these say: supported, in part, these pairs tell nothing, or not checked; with the reason.

    Example:
        >>> import numpy as np
        >>> x = np.random.default_rng(0).uniform(size=(2000, 2))
        >>> x_pos = x + np.random.default_rng(1).laplace(scale=0.05, size=x.shape)
        >>> codes = ContrastiveICA(2, max_steps=100, random_state=0).fit(x, x_pos).transform(x)
        >>> codes.shape
        (2000, 2)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        space: str = "box",
        conditional: str = "auto",
        widths: Widths = "free",
        axes: Axes = "learnt",
        encoder: str | nn.Module = "auto",
        pca_components: int | str | None = "auto",
        scaling: Scaling | str = "auto",
        noise: float | str = "auto",
        lag: int | Sequence[int] | None = None,
        window: int | str = "auto",
        max_steps: int | None = None,
        max_seconds: float | None = None,
        batch_size: int | None = None,
        validation_fraction: float | str = "auto",
        refits: int = 0,
        warm_start: bool = False,
        layout: str = "auto",
        channels: str = "first",
        device: str | torch.device = "auto",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.space = space
        self.conditional = conditional
        self.widths = widths
        self.axes = axes
        self.encoder = encoder
        self.pca_components = pca_components
        self.scaling = scaling
        self.noise = noise
        self.lag = lag
        self.window = window
        self.max_steps, self.max_seconds = max_steps, max_seconds
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.refits, self.warm_start = refits, warm_start
        self.layout, self.channels = layout, channels
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        X_pos: Any = None,
        pairs: Any = None,
        labels: Any = None,
        trials: Any = None,
        rows: Any = None,
    ) -> Self:
        """Train on positive pairs, given in one of four ways: `fit(X, X_pos)`, by `pairs`, by `lag`, or by `labels`.

        After an error or Ctrl-C the estimator is what it was.

        Args:
            X: Observations, [samples, features], [trials, time, channels] or images. Of an array on disk (a memory map,
                a dataset of h5py) that is larger than 256 MB, blocks of rows that are spread evenly are read.
            y: X_pos, under the name that scikit-learn's tools give to what goes along with X. (With `lag` set, a
                vector is taken for a target, and ignored.)
            X_pos: The partner of each row of X, of the same shape.
            pairs: Index pairs into X, [pairs, 2] or [2, pairs], so that a scaler in front sees all observations.
            labels: Measured behaviour of each row of X, [samples] or [samples, k]: rows with similar (real numbers) or
                equal (whole numbers, names) labels are partners; with `lag`, only those at most so many rows apart.
            trials: With `lag` or `labels`: a label for each row of X; rows of a trial are neighbours in time.
            rows: With `pairs`: the number that these call each row of X by, if X is a part of the data; pairs with a
                half elsewhere are left out.
        """
        fitted = copy.copy(self)
        found = fitted._fit(X, Partners(y, X_pos, pairs, labels, trials, rows))
        self.__dict__ = fitted.__dict__
        found.warn_of_nothing(stacklevel=2)
        return self

    def _fit(self, X: Any, given: Partners) -> _training.Found:
        """The fit itself, which sets attributes along the way."""
        _planning.check_settings(self)
        device = resolve_device(self.device)
        warm = self.warm_start and hasattr(self, "encoder_")
        observed = _observing.observe(self, X, reset=not warm, pairs=given.pairs)
        seed = _planning.seed_of(self.random_state)
        observations, pairing = self._pairing(observed, given, seed)
        model = self._model(observations)
        split = _planning.split_pairs(pairing, self.validation_fraction, open_budget=_planning.is_open(self))
        _pairing.check_enough_pairs(observations, split.fitted, model.space.dim)
        found = _training.fit(self, model, observations, split, seed, device, warm=warm)
        learner = found.learner
        self.encoder_ = learner.cpu().reader.eval().requires_grad_(False)
        self.model_, self.n_components_ = model, model.space.dim
        self.scales_, self.n_pairs_ = learner.scales.double().numpy(), len(split.fitted)
        self.components_used_ = learner.used.nonzero().flatten().numpy()
        self.n_steps_ = int(found.curve[-1]["step"]) if found.curve else 0
        self.loss_curve_ = _training.thinned(found.curve, _CURVE_POINTS)
        self.chosen_ = found.choice.describe() | {"steps": self.n_steps_}
        self.search_ = found.tried
        self.n_held_out_pairs_ = 0 if split.held_out is None else len(split.held_out)
        self.validation_score_, self.fitted_bits_ = found.held_out_bits, found.fitted_bits
        self.validation_error_, self.agreement_ = found.error, found.agreement
        return found

    def transform(self, X: Any, trials: Any = None) -> NDArray[np.floating[Any]]:
        """Codes of observations, [samples, n_components], or [trials, time, n_components]; computed in batches.

        Args:
            X: Observations.
            trials: With a window of several rows: a label for each row; no window goes across two trials.
        """
        check_is_fitted(self)
        if not _large.fits_a_piece(X) and X.ndim == 2 and self.chosen_["window"] == 1:
            return _large.by_pieces(X, self.transform)
        observed = _observing.observe(self, X, reset=False)
        values = self._windows(observed.values, observed.trials(trials))
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        codes: Any = encode(self.encoder_, values, resolve_device(self.device)).numpy().astype(dtype)
        return codes if observed.shape is None else np.reshape(codes, (*observed.shape, -1))

    def score(
        self,
        X: Any,
        y: Any = None,
        *,
        X_pos: Any = None,
        pairs: Any = None,
        labels: Any = None,
        trials: Any = None,
        rows: Any = None,
    ) -> float:
        """Bits that a code tells about its partner: log₂ M - InfoNCE on these pairs, the higher the better.

        M is the number of pairs given (at most 16 384 are candidates at a time), not the batch size of training; log₂ M
        is the most it can be. Give pairs that were not fitted, in the ways that `fit` takes.
        """
        check_is_fitted(self)
        given = Partners(y, X_pos, pairs, labels, trials, rows)
        observed = _observing.observe(self, X, reset=False, pairs=pairs)
        values, pairing = self._pairing(observed, given, 0)
        windows = self._windows(values, observed.trials(trials) if values is observed.values else None)
        codes = encode(self.encoder_, windows, resolve_device(self.device)).float()
        first, second = (codes[torch.from_numpy(half)] for half in pairing.pairs().T)
        scales = torch.from_numpy(self.scales_).float()
        return float(bits_of_pairs(self.model_.similarity, first, second, scales).mean())

    def save(self, path: str | Path) -> None:
        """Write a folder with the weights (`safetensors`) and everything else (JSON); no code, no pickle."""
        check_is_fitted(self)
        _model_folder.save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, *, encoder: nn.Module | None = None) -> ContrastiveICA:
        """Read what `save` wrote. Nothing in the folder is run.

        Args:
            path: The folder.
            encoder: If the estimator was fitted with a module of your own: a new one of its kind, for the weights.
        """
        return _model_folder.load(cls, Path(path), encoder)

    def recipe_steps(self, X: Any) -> int:
        """The number of updates of the recipe for X: the whole schedule of a fit without a budget."""
        _planning.check_settings(self)
        observations = _observing.observe(copy.copy(self), X, reset=True).values
        recipe = Contrastive(self._model(observations)).recipe_for("fast", images=observations.ndim > 2)
        return recipe.training.steps

    def _model(self, observations: Tensor) -> Model:
        """The assumption, with its number of components."""
        window = _planning.window_of(self, observations)
        directions = _checks.whole(self.pca_components)
        dim = _pairing.components(observations, self.n_components, directions, self.space, window)
        return Model.named(self.space, self.conditional, dim, self.widths)

    def _pairing(self, observed: Observed, given: Partners, seed: int) -> tuple[Tensor, Pairing]:
        """Observations (and partners that came as a second array) and who is whose partner."""
        lags = None if self.lag is None else _planning.lags_of(self.lag)
        return _pairing.make_pairs(observed, given, lags, seed, self.channels)

    def _windows(self, values: Tensor, trials: Any) -> Tensor:
        """What the encoder sees of these rows."""
        runs = runs_of(len(values), trials)
        return values if values.ndim > 2 else stack_windows(values, runs, int(self.chosen_["window"]))
