"""How an estimator trains: one fit within a budget, or a search for what the data bear."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, final

from torch import Tensor, nn

from identica import _planning
from identica._agreement import agreement_of
from identica._checks import InputError
from identica._progress import training_bar
from identica.encoders import Encoder, encode
from identica.fitting import Attempt, Bench, Choice, search, tells_nothing
from identica.fitting.bench import Listen
from identica.learners import Contrastive, ContrastiveLearner
from identica.models import Model
from identica.recipes import Recipe
from identica.training import Curve, Schedule

__all__ = ["Found", "fit", "thinned"]

_UNLIMITED = 10**9
# With pairs for fewer batches than this, smaller ones do.
_FEW_BATCHES = 12


@final
@dataclass(frozen=True)
class Found:
    """The fit that was kept.

    Args:
        learner: What was trained.
        curve: Its losses.
        choice: Its settings.
        tried: All attempts, as plain data.
        held_out_bits: Mean bits of held-out pairs, if there are any.
        fitted_bits: Of as many fitted ones.
        error: Standard error of the held-out bits.
        agreement: How well components come back in refits, from 0 to 1; None if there are none.
    """

    learner: ContrastiveLearner
    curve: Curve
    choice: Choice
    tried: list[dict[str, Any]]
    held_out_bits: float | None
    fitted_bits: float | None
    error: float
    agreement: float | None = None

    def warn_of_nothing(self, stacklevel: int) -> None:
        """Say so if held-out pairs share nothing."""
        if tells_nothing(self.held_out_bits, self.error):
            warnings.warn(
                f"these pairs do not tell the factors: codes of held-out pairs share {self.held_out_bits:z.2f} bits, "
                "which is not above zero by more than its error",
                stacklevel=stacklevel + 1,
            )


def fit(
    estimator: Any,
    model: Model,
    observations: Tensor,
    split: _planning.Split,
    seed: int,
    device: str,
    *,
    warm: bool = False,
) -> Found:
    """Train once if a budget is given, nothing is held out or an earlier fit goes on; otherwise by a search."""
    recipe = _recipe(estimator, model, observations, len(split.fitted))
    given = estimator.max_steps or (recipe.training.steps if estimator.max_seconds is None else _UNLIMITED)
    searched = split.held_out is not None and _planning.is_open(estimator) and not warm
    start = _earlier(estimator, model) if warm else None
    with _bar(estimator, int(given)) as listen:
        bench = Bench(
            Contrastive(model, estimator.axes),
            recipe,
            observations,
            split.runs,
            split.fitted,
            split.held_out,
            seed=seed,
            device=device,
            network=estimator.encoder if isinstance(estimator.encoder, nn.Module) else None,
            max_seconds=estimator.max_seconds,
            slow_start=searched,
            start=start,
            listen=listen,
        )
        if searched:
            kept = search(bench, _planning.options_of(estimator, model.space.dim, int(given), observations, split))
        elif warm:
            kept = bench.attempt(_planning.earlier_choice(estimator, int(given)))
        else:
            kept = bench.attempt(_planning.plain_choice(estimator, int(given), observations))
        learner = bench.matched(kept)
        others = [bench.with_seed((seed + 1 + number) % 2**31) for number in range(estimator.refits)]
        agreement = _agreement(bench, kept, others)
    tried = [one.describe() for one in bench.attempts]
    held_out = None if kept.bits is None else kept.score
    return Found(learner, kept.curve, kept.choice, tried, held_out, kept.fitted_bits, kept.error, agreement)


def _earlier(estimator: Any, model: Model) -> Encoder:
    """The encoder of an earlier fit to go on from."""
    if model != estimator.model_:
        raise InputError(f"warm_start needs the assumption of the earlier fit, {estimator.model_}, got {model}")
    encoder = estimator.encoder_[0]
    assert isinstance(encoder, Encoder)
    return encoder


def _agreement(bench: Bench, kept: Attempt, others: Sequence[Bench]) -> float | None:
    """How well the components that are used come back if the fit that was kept is made again with other seeds."""
    held_out = bench.scored(kept.choice.window)
    if not others or held_out is None:
        return None
    assert isinstance(bench.settings, Contrastive)
    used = kept.learner.used.cpu()
    codes = encode(kept.learner.reader, held_out.first, bench.device)[:, used].numpy()
    found = []
    for other in others:
        again = other.attempt(kept.choice)
        theirs = encode(other.matched(again).reader, held_out.first, bench.device).numpy()
        found.append(float(agreement_of(bench.settings.ambiguity, codes, theirs).mean()))
    return sum(found) / len(found)


def thinned(curve: Curve, most: int) -> Curve:
    """About so many points of a curve, with those that have a held-out loss."""
    every = max(1, len(curve) // most)
    last: dict[str, float] | None = None
    kept: Curve = []
    for number, point in enumerate(curve):
        known = {key: value for key, value in point.items() if key not in ("step", "loss")}
        changed = known != last and bool(known)
        last = known
        if changed:
            kept.append(dict(point))
        elif number % every == 0:
            kept.append({"step": point["step"], "loss": point["loss"]})
    return kept


def _recipe(estimator: Any, model: Model, observations: Tensor, pairs: int) -> Recipe:
    """The fast recipe, with what the user chose instead."""
    images = observations.ndim > 2
    recipe = Contrastive(model).recipe_for("fast", images=images)
    usual = recipe.training.batch_size
    if not images and _planning.is_open(estimator) and pairs < _FEW_BATCHES * usual:
        usual //= 2  # as many held-out bits, in half the time
    batch_size = int(estimator.batch_size or usual)
    return replace(recipe, training=replace(recipe.training, batch_size=max(2, min(batch_size, pairs))))


@contextmanager
def _bar(estimator: Any, steps: int) -> Iterator[Listen]:
    """A bar that starts again with each attempt."""
    with training_bar(Schedule(steps, seconds=estimator.max_seconds), estimator.verbose) as show:

        def listen(network: str, step: int, count: int, loss: float) -> None:
            show(step * max(1, steps // count) if estimator.max_seconds is None else step, loss)

        yield listen
