"""The scikit-learn face of the method: fit pairs, transform observations, score held-out pairs, save and load."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from identica import _checks, _model_folder, _pairing, assembly
from identica._checks import InputError
from identica._progress import training_bar
from identica.encoders import BACKBONES, encode
from identica.information import bits_of_pairs
from identica.laws import AdditiveNoise, rounded
from identica.learners import Axes, Contrastive, ContrastiveLearner, fitted_law
from identica.models import Model, Widths
from identica.recipes import Recipe
from identica.sources import ArrayPairs
from identica.spaces import NAMED_SPACES
from identica.training import Curve, Schedule, resolve_device

__all__ = ["ContrastiveICA"]

_CURVE_POINTS = 100
_UNLIMITED = 10**9


class ContrastiveICA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Recover the factors z behind observations x = g(z) from pairs (x, x~) of related ones.

    An encoder f is trained to tell from x~ which x it came from: InfoNCE with the similarity that fits the assumed
    space of z and the assumed family of p(z~ | z). If the assumption holds, f ∘ g is a rotation, an affine map or a
    permutation (`ambiguity_`).

    Args:
        n_components: Number of factors; as many as features if not given.
        space: Where factors live: `sphere` (codes of norm 1), `box` (codes in about [0, 1]) or `unbounded` (codes of
            mean 0 and variance 1).
        conditional: How partners scatter around each other: `vmf` (on the sphere), `laplace`, `normal`, or
            `gennorm(beta=3)`, any exponent. Its width is learnt.
        widths: `equal` fits one width of the conditional to all components, as the paper does, `free` one to each.
        axes: `learnt`, or for `unbounded` and `normal`, which leave a rotation open, `second-order`: the basis in which
            the covariances of components and of partner differences are diagonal. Justified if all widths differ.
        encoder: `mlp` or `linear` for arrays of features, `conv` or `resnet` for images [samples, channels, height,
            width], or any `torch.nn.Module` with `n_components` outputs.
        pca_components: Keep so many directions of the features, those of most variance; all of them if not given. For
            few samples of many features.
        lag: For a time series: rows t and t + lag of X are a pair.
        max_steps: Number of updates; by the recipe for the assumption if neither budget is given.
        max_seconds: Time for training; the result then depends on the speed of the machine.
        batch_size: Pairs in an update; 1024 for arrays and 256 for images if not given.
        validation_fraction: Part of the pairs that is held out and scored, not fitted: drawn at random, or with `lag`
            the last ones.
        device: `auto`, `cpu`, `cuda` or `mps`.
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
        loss_curve_: Step and loss, at up to a hundred steps.
        n_steps_: Number of updates.
        n_pairs_: Number of pairs that were fitted.
        n_held_out_pairs_: Number of pairs that were held out.
        validation_score_: Bits a pair on the pairs that were held out; None if there are none.

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
        conditional: str = "laplace",
        widths: Widths = "equal",
        axes: Axes = "learnt",
        encoder: str | nn.Module = "mlp",
        pca_components: int | None = None,
        lag: int | None = None,
        max_steps: int | None = None,
        max_seconds: float | None = None,
        batch_size: int | None = None,
        validation_fraction: float = 0.0,
        device: str = "auto",
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
        self.lag = lag
        self.max_steps = max_steps
        self.max_seconds = max_seconds
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, X_pos: Any = None, pairs: Any = None, trials: Any = None) -> Self:
        """Train on positive pairs, given in one of three ways: `fit(X, X_pos)`, `fit(X, pairs=…)`, or by `lag`.

        Args:
            X: Observations, [samples, features] or images.
            y: X_pos, under the name that scikit-learn's tools give to what goes along with X. (With `lag` set, a
                vector is taken for a target, and ignored.)
            X_pos: The partner of each row of X, of the same shape.
            pairs: Index pairs into X, [pairs, 2], so that a scaler in front of this estimator sees all observations.
            trials: With `lag`: a label for each row of X; pairs stay within a run of equal labels.
        """
        self._check_parameters()
        device = resolve_device(self.device)
        observations = _pairing.observations(self, X, reset=True)
        every_pair = _pairing.make_pairs(observations, y, X_pos, pairs, self.lag, trials)
        seed = self._seed()
        source, held_out = every_pair.split(self.validation_fraction, in_order=self.lag is not None, seed=seed)
        model = self._model(observations)
        _pairing.check_enough_pairs(source, model.space.dim)
        learner, curve = self._train(model, source, seed, device)
        self.encoder_ = learner.cpu().reader.eval().requires_grad_(False)
        self.model_, self.n_components_ = model, model.space.dim
        self.scales_, self.n_pairs_ = learner.scales.double().numpy(), len(source)
        self.components_used_ = learner.used.nonzero().flatten().numpy()
        self.n_steps_ = int(curve[-1]["step"]) if curve else 0
        self.loss_curve_ = curve[:: max(1, len(curve) // _CURVE_POINTS)]
        self.n_held_out_pairs_ = len(every_pair) - len(source)
        self.validation_score_ = None if held_out is None else self._bits(held_out)
        return self

    def transform(self, X: Any) -> NDArray[np.floating[Any]]:
        """Codes of observations, [samples, n_components], computed in batches."""
        check_is_fitted(self)
        values = _pairing.observations(self, X, reset=False)
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        return encode(self.encoder_, values, resolve_device(self.device)).numpy().astype(dtype)

    def score(self, X: Any, y: Any = None, *, X_pos: Any = None, pairs: Any = None, trials: Any = None) -> float:
        """Bits that a code tells about its partner: log₂ M - InfoNCE on these pairs, the higher the better.

        M is the number of pairs given (at most 16 384 of them are candidates at a time), not the batch size of
        training; log₂ M is the most it can be. Give pairs that were not fitted.
        """
        check_is_fitted(self)
        values = _pairing.observations(self, X, reset=False)
        return self._bits(_pairing.make_pairs(values, y, X_pos, pairs, self.lag, trials))

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

    def recipe_steps(self, X: Any, part: float = 1.0) -> int:
        """The number of updates that `fit` makes on X without a budget, or a part of it."""
        self._check_parameters()
        model = self._model(_pairing.observations(copy.copy(self), X, reset=True))
        return max(1, round(part * Contrastive(model).recipe("fast").training.steps))

    @property
    def ambiguity_(self) -> str:
        """Up to which map the theory identifies the factors: a rotation, an affine map or a permutation."""
        check_is_fitted(self)
        return Contrastive(self.model_, self.axes).ambiguity

    @property
    def conditional_(self) -> str:
        """The fitted p(z~ | z), in units of the codes."""
        check_is_fitted(self)
        return str(rounded(fitted_law(self.model_, torch.from_numpy(self.scales_)), 3))

    @property
    def widths_(self) -> NDArray[np.float64]:
        """The width of p(z~ | z) in each component, in units of its code, as `conditional_` has it."""
        check_is_fitted(self)
        law = fitted_law(self.model_, torch.from_numpy(self.scales_))
        used = law.scale if isinstance(law, AdditiveNoise) else 1 / self.scales_.mean()  # κ = 1 / width²
        widths = np.full(self.n_components_, np.inf)
        widths[self.scales_ > 0] = used
        return widths

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_parameters(self) -> None:
        _checks.choice("space", self.space, NAMED_SPACES)
        Contrastive(Model.named(self.space, self.conditional, 2, self.widths), self.axes)
        if not isinstance(self.encoder, nn.Module):
            _checks.choice("encoder", self.encoder, BACKBONES)
        for name in ("n_components", "pca_components", "lag", "max_steps", "batch_size"):
            if getattr(self, name) is not None:
                _checks.at_least_one(name, _whole(getattr(self, name)))
        if self.max_seconds is not None:
            _checks.positive("max_seconds", self.max_seconds)
        if self.batch_size is not None:
            _checks.at_least("batch_size", _whole(self.batch_size), 2)
        if not 0 <= self.validation_fraction < 1:
            raise InputError(f"validation_fraction must be from 0 to below 1, got {self.validation_fraction!r}")

    def _seed(self) -> int:
        """The random state itself if it is a whole number, so that experiments and fits share their seeds."""
        whole = _whole(self.random_state)
        if isinstance(whole, int) and not isinstance(whole, bool):
            return _checks.seed("random_state", whole)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _model(self, observations: Tensor) -> Model:
        """The assumption, with its number of components."""
        dim = _pairing.components(observations, self.n_components, self.pca_components, self.space)
        return Model.named(self.space, self.conditional, dim, self.widths)

    def _recipe(self, model: Model, source: ArrayPairs) -> Recipe:
        """The fast recipe, with what the user chose instead."""
        recipe = Contrastive(model).recipe("fast")
        steps = self.max_steps or (recipe.training.steps if self.max_seconds is None else _UNLIMITED)
        images = len(source.shape) > 1
        batch_size = int(self.batch_size or (256 if images else recipe.training.batch_size))
        # Small networks train best on one thread, convolutions on all.
        training = replace(
            recipe.training,
            steps=int(steps),
            batch_size=max(2, min(batch_size, len(source))),
            threads=0 if images else recipe.training.threads,
        )
        named = self.encoder if isinstance(self.encoder, str) else "mlp"
        encoder = replace(recipe.encoder, network=named, directions=_whole(self.pca_components))
        return replace(recipe, training=training, encoder=encoder)

    def _train(self, model: Model, source: ArrayPairs, seed: int, device: str) -> tuple[ContrastiveLearner, Curve]:
        recipe = self._recipe(model, source)
        curve: Curve = []
        with training_bar(Schedule(recipe.training.steps, seconds=self.max_seconds), self.verbose) as show:

            def report(step: int, loss: float, scores: Mapping[str, float]) -> None:
                curve.append({"step": step, "loss": loss})
                show(step, loss)

            found = assembly.fit(
                Contrastive(model, self.axes),
                recipe,
                source,
                seed,
                device=device,
                network=self.encoder if isinstance(self.encoder, nn.Module) else None,
                max_seconds=self.max_seconds,
                report=report,
            )
        assert isinstance(found.learner, ContrastiveLearner)
        return found.learner, curve

    def _bits(self, source: ArrayPairs) -> float:
        """Mean bits a pair."""
        codes = encode(self.encoder_, source.observations, resolve_device(self.device)).float()
        first, second = (codes[half] for half in source.indices.unbind(dim=1))
        scales = torch.from_numpy(self.scales_).float()
        return float(bits_of_pairs(self.model_.similarity, first, second, scales).mean())


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, np.integer) else value
