"""The scikit-learn face of the method: fit pairs, transform observations, score held-out pairs, save and load."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Generator, Tensor, nn

from identica import _checks, _model_folder, _pairing
from identica._checks import InputError
from identica._progress import training_bar
from identica.encoders import BACKBONES, Encoder, NormalisedHead, Scale
from identica.evidence import bits_of_pairs, match_scale
from identica.models import SPACES, Model
from identica.processes import ArrayPairs
from identica.protocols import Protocol, make_protocol
from identica.training import Curve, resolve_device, train

__all__ = ["ContrastiveICA"]

_WHITENING_SAMPLES, _CALIBRATION_PAIRS = 16_384, 4096
_CURVE_POINTS = 100
_UNLIMITED = 10**9
# Standardised codes have unit variance, those of a soft box unit width.
_UNITS = {"sphere": 1.0, "box": 1.0, "unbounded": math.sqrt(12)}


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
        encoder: `mlp` or `linear` for arrays of features, `conv` or `resnet` for images [samples, channels, height,
            width], or any `torch.nn.Module` with `n_components` outputs.
        pca_components: Keep so many directions of the features, those of most variance; all of them if not given. For
            few samples of many features.
        lag: For a time series: rows t and t + lag of X are a pair.
        max_steps: Number of updates; by the recipe for the assumption if neither budget is given.
        max_seconds: Time for training; the result then depends on the speed of the machine.
        batch_size: Pairs in an update; 1024 for arrays and 256 for images if not given.
        device: `auto`, `cpu`, `cuda` or `mps`.
        random_state: Seed of the weights and of the batches: a whole number makes fits repeatable.
        verbose: Show a progress bar with the time left.

    Attributes:
        encoder_: The trained network.
        conditional_: The fitted p(z~ | z), in units of the codes, such as `laplace(scale=0.05)`.
        ambiguity_: Up to which map the theory identifies the factors.
        loss_curve_: Step and loss, at up to a hundred steps.
        n_steps_: Number of updates.

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
        encoder: str | nn.Module = "mlp",
        pca_components: int | None = None,
        lag: int | None = None,
        max_steps: int | None = None,
        max_seconds: float | None = None,
        batch_size: int | None = None,
        device: str = "auto",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.space = space
        self.conditional = conditional
        self.encoder = encoder
        self.pca_components = pca_components
        self.lag = lag
        self.max_steps = max_steps
        self.max_seconds = max_seconds
        self.batch_size = batch_size
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
        model = self._check_parameters()
        device = resolve_device(self.device)
        observations = _pairing.observations(self, X, reset=True)
        source = _pairing.make_pairs(observations, y, X_pos, pairs, self.lag, trials)
        dim = self._components(model, observations)
        _pairing.enough(source, dim)
        protocol = self._protocol(model, dim, source)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        streams = _streams(seed, device)
        curve: Curve = []
        schedule = replace(protocol.schedule, seconds=self.max_seconds)
        with _surroundings(seed, one_thread=observations.ndim == 2), training_bar(schedule, self.verbose) as show:
            encoder = protocol.encoder(
                model.space,
                dim,
                _sample(observations, streams["front"]),
                streams["weights"],
                self.encoder,
                self.pca_components,
            ).to(device)

            if isinstance(self.encoder, nn.Module):
                _check_own(encoder, observations[:2].to(device), dim)

            def report(step: int, loss: float, scores: Mapping[str, float]) -> None:
                curve.append({"step": step, "loss": loss})
                show(step, loss)

            train(
                encoder,
                protocol.task(model, source),
                protocol.optimizers(encoder),
                schedule,
                generator=streams["batches"],
                device=device,
                report=report,
            )
            self.encoder_ = encoder.cpu().eval().requires_grad_(False)
            self.model_, self.n_components_ = model, dim
            self.n_steps_ = int(curve[-1]["step"]) if curve else 0
            self.loss_curve_ = curve[:: max(1, len(curve) // _CURVE_POINTS)]
            self._settle(source, streams["front"])
        return self

    def transform(self, X: Any) -> NDArray[np.floating[Any]]:
        """Codes of observations, [samples, n_components], computed in batches."""
        check_is_fitted(self)
        values = _pairing.observations(self, X, reset=False)
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        return _encode(self.encoder_, values, self.device).numpy().astype(dtype)

    def score(self, X: Any, y: Any = None, *, X_pos: Any = None, pairs: Any = None, trials: Any = None) -> float:
        """Bits that a code tells about its partner: log₂ M - InfoNCE on these pairs, the higher the better.

        M is the number of pairs given (at most 16 384 of them are candidates at a time), not the batch size of
        training; log₂ M is the most it can be. Give pairs that were not fitted.
        """
        check_is_fitted(self)
        values = _pairing.observations(self, X, reset=False)
        source = _pairing.make_pairs(values, y, X_pos, pairs, self.lag, trials)
        codes = _encode(self.encoder_, source.observations, self.device).float()
        first, second = source.indices.unbind(dim=1)
        return float(bits_of_pairs(self.model_.similarity, codes[first], codes[second], self.scale_).mean())

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
        model = self._check_parameters()
        dim = self._components(model, _pairing.observations(copy.copy(self), X, reset=True))
        return max(1, round(part * make_protocol("fast", model, dim).steps))

    @property
    def ambiguity_(self) -> str:
        """Up to which map the theory identifies the factors: a rotation, an affine map or a permutation."""
        check_is_fitted(self)
        return self.model_.ambiguity

    @property
    def conditional_(self) -> str:
        """The fitted p(z~ | z), in units of the codes."""
        check_is_fitted(self)
        name, width = self.conditional.partition("(")[0], 1 / self.scale_
        if name == "vmf":
            return f"vmf(kappa={self.scale_**2:.3g})"
        if name == "gennorm":
            return f"{self.conditional[:-1]}, scale={width:.3g})"
        return f"normal(sigma={width / math.sqrt(2):.3g})" if name == "normal" else f"laplace(scale={width:.3g})"

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_parameters(self) -> Model:
        _checks.choice("space", self.space, SPACES)
        if not isinstance(self.conditional, str):
            raise InputError(f"conditional must be a name such as 'laplace', got {self.conditional!r}")
        if not isinstance(self.encoder, nn.Module):
            _checks.choice("encoder", self.encoder, BACKBONES)
        for name in ("n_components", "pca_components", "lag", "max_steps", "batch_size"):
            if getattr(self, name) is not None:
                _checks.at_least_one(name, _whole(getattr(self, name)))
        if self.max_seconds is not None:
            _checks.positive("max_seconds", self.max_seconds)
        if self.batch_size is not None and self.batch_size < 2:
            raise InputError(f"batch_size must be at least 2, got {self.batch_size}")
        return Model(self.space, self.conditional)

    def _components(self, model: Model, observations: Tensor) -> int:
        features = math.prod(observations.shape[1:])
        if self.n_components is None and observations.ndim > 2:
            raise InputError("n_components must be given for images: the number of factors to look for")
        dim = features if self.n_components is None else int(self.n_components)
        if dim > features:
            raise InputError(f"n_components must be at most the number of features {features}, got {dim}")
        if self.pca_components is not None and observations.ndim > 2:
            raise InputError(f"pca_components must be left out for images, got {self.pca_components}")
        if self.pca_components is not None and not dim <= self.pca_components <= features:
            raise InputError(
                f"pca_components must be from the number of components {dim} to the number of features {features}, "
                f"got {self.pca_components}"
            )
        if model.space == "sphere" and dim < 2:
            raise InputError(f"n_components must be at least 2 on a sphere, got {dim}")
        return dim

    def _protocol(self, model: Model, dim: int, source: ArrayPairs) -> Protocol:
        protocol = make_protocol("fast", model, dim)
        steps = self.max_steps or (protocol.steps if self.max_seconds is None else _UNLIMITED)
        images = source.observations.ndim > 2
        batch_size = int(self.batch_size or (256 if images else protocol.batch_size))
        return replace(protocol, steps=int(steps), batch_size=max(2, min(batch_size, len(source))))

    def _settle(self, source: ArrayPairs, generator: Generator) -> None:
        """Fix the units of the codes, and match the width of the conditional to the pairs in these units."""
        encoder = self.encoder_
        if isinstance(encoder.head, NormalisedHead):
            raw = nn.Sequential(encoder.whitening, encoder.backbone)
            encoder.head.settle(_encode(raw, _sample(source.observations, generator), self.device))
            if self.space == "box":
                encoder.head.mean.sub_(encoder.head.width / 2)  # from [-1/2, 1/2] to [0, 1]
        for scale in (module for module in encoder.head.modules() if isinstance(module, Scale)):
            scale.set(_UNITS[self.space])
        chosen = torch.randperm(len(source), generator=generator)[:_CALIBRATION_PAIRS]
        first, second = (_encode(encoder, half, self.device) for half in source.at(chosen))
        self.scale_ = match_scale(self.model_.similarity, first, second)


def _check_own(encoder: Encoder, observations: Tensor, dim: int) -> None:
    """Refuse a network of the user's own that does not fit the observations or the number of components."""
    raw = nn.Sequential(encoder.whitening, encoder.backbone).eval()
    shape = list(observations.shape[1:])
    try:
        with torch.no_grad():
            outputs = raw(observations)
    except RuntimeError as error:
        raise InputError(f"encoder cannot take observations of shape {shape}: {str(error).splitlines()[0]}") from None
    if tuple(outputs.shape) != (len(observations), dim):
        raise InputError(f"encoder must give n_components = {dim} outputs, got shape {list(outputs.shape[1:])}")


def _encode(network: nn.Module, values: Tensor, device: str) -> Tensor:
    """Outputs in batches; on the CPU in double precision: a row's code must not depend on the rows beside it."""
    where = resolve_device(device)
    precision = torch.float64 if where == "cpu" else torch.float32
    module = copy.deepcopy(network).to(where, precision)
    size = 4096 if values.ndim == 2 else 256
    with torch.no_grad():
        pieces = [
            module(piece.to(where, precision if piece.is_floating_point() else None)).cpu().double()
            for piece in torch.split(values, size)
        ]
    return torch.cat(pieces)


def _sample(observations: Tensor, generator: Generator) -> Tensor:
    return observations[torch.randperm(len(observations), generator=generator)[:_WHITENING_SAMPLES]]


def _streams(seed: int, device: str) -> dict[str, Generator]:
    """Independent randomness for each purpose."""
    seeds = np.random.SeedSequence(seed).generate_state(3)
    return {
        "front": Generator().manual_seed(int(seeds[0])),
        "weights": Generator().manual_seed(int(seeds[1])),
        "batches": Generator(device).manual_seed(int(seeds[2])),
    }


@contextmanager
def _surroundings(seed: int, *, one_thread: bool) -> Iterator[None]:
    """Leave the caller's random state and threads as they were; small networks train best on one thread."""
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)  # for modules of the user's own that draw, such as dropout
        try:
            if one_thread:
                torch.set_num_threads(1)
            yield
        finally:
            torch.set_num_threads(threads)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, np.integer) else value
