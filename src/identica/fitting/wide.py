"""Learn the codes of a model from wide codes, which another learner gives; of several starts the best is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Generator, Tensor

from identica._checks import InputError
from identica._random import random_stream
from identica.assembly import Fit, fit, surroundings
from identica.fitting.held_out import held_out_bits
from identica.learners import Contrastive, ContrastiveLearner, Learner
from identica.recipes import Recipe, WideCodes
from identica.sources import ArrayPairs, NumberedSource, Source
from identica.training import Report

__all__ = ["fit_from_wide_codes"]

# The pairs of one anchor in so many are kept back, to choose among starts.
_KEPT_BACK = 20
_MOST_COMPARED = 4096
_SEEDS = 1 << 31


def fit_from_wide_codes(
    settings: Contrastive,
    recipe: Recipe,
    source: Source,
    seed: int,
    wide: ContrastiveLearner,
    *,
    device: str = "cpu",
    evaluate: Callable[[Learner], Mapping[str, float]] | None = None,
    checkpoint: Path | None = None,
    report: Report | None = None,
    **watched: Any,
) -> Fit:
    """Learn the codes of the model from wide codes; the learner goes from observations to codes.

    What learns them is small and may end where a factor is missing, so the recipe may ask for several starts. Kept is
    the one whose codes tell most of their partners, in bits of pairs that none of them learnt from; `fitted` has the
    bits of all. Each start has a checkpoint of its own; trackers follow the first.

    Args:
        settings: What is trained.
        recipe: That of the wide codes and of what is learnt from them.
        source: Where pairs come from.
        seed: Of all choices.
        wide: What gives the wide codes. It was trained, and stays as it is.
        device: Where to train.
        evaluate: Scores for the curve, of the learner behind the wide codes.
        checkpoint: File to resume from and to save to; later starts add a number to its name.
        report: Called with the step, counted from the first one of the wide codes on, the loss and the scores.
        **watched: What else `train` takes to evaluate and to log.
    """
    if recipe.wide is None:
        raise InputError("recipe must have wide codes, got none: call fit")
    started, starts, steps = time.monotonic(), recipe.wide.starts, recipe.wide.recipe.steps
    wide.requires_grad_(False)
    with surroundings(seed, recipe.training.threads):
        codes = _pairs_of_codes(wide, source, recipe.wide, recipe.training.batch_size, seed, device)
    learnt, unseen = (codes, None) if starts == 1 else _kept_back(codes)
    seconds = time.monotonic() - started

    def evaluated(learner: Learner) -> Mapping[str, float]:
        assert evaluate is not None
        assert isinstance(learner, ContrastiveLearner)
        with learner.placed_behind(wide):
            return evaluate(learner)

    found: list[Fit] = []
    for start in range(starts):
        watch: dict[str, Any] = {
            "evaluate": None if evaluate is None else evaluated,
            "checkpoint": checkpoint if checkpoint is None or start == 0 else _numbered(checkpoint, start),
            "report": None if report is None else _counted_from(recipe.training.steps + start * steps, report),
        }
        logged = watched if start == 0 else {name: value for name, value in watched.items() if name != "loggers"}
        begun = seed if start == 0 else _seed_of(seed, start)
        found.append(fit(settings, recipe.wide.recipe, learnt, begun, device=device, **watch, **logged))
    started, chosen = time.monotonic(), found[0]
    if unseen is not None:
        bits = [_bits(one.learner, unseen, device) for one in found]
        chosen = found[bits.index(max(bits))]
        chosen.fitted["bits_of_starts"] = bits
    assert isinstance(chosen.learner, ContrastiveLearner)
    chosen.learner.behind(wide)
    seconds += sum(one.seconds for one in found) + time.monotonic() - started
    return replace(chosen, seconds=seconds)


@torch.no_grad()
def _pairs_of_codes(
    learner: Learner, source: Source, settings: WideCodes, at_once: int, seed: int, device: str
) -> ArrayPairs:
    """Codes of pairs of a source: of one partner for each anchor, or of several where partners are anchors too."""
    generator = random_stream(seed, "pairs of codes", device)
    numbered = source if isinstance(source, NumberedSource) else None
    count = settings.pairs if numbered is None else len(numbered)
    rows = torch.arange(count, device=device)
    partners = None if numbered is None else _numbers_of_partners(numbered, rows, settings.partners, generator)
    halves: tuple[list[Tensor], list[Tensor]] = [], []
    for piece in torch.split(rows, at_once):
        pair = source.pairs(len(piece), generator) if numbered is None else numbered.pairs_of(piece, generator)
        halves[0].append(learner.codes(pair[0]))
        if partners is None:
            halves[1].append(learner.codes(pair[1]))
    if partners is None:
        partners = rows + count
    anchors = rows.repeat(len(partners) // count)
    return ArrayPairs(torch.cat([*halves[0], *halves[1]]), torch.stack([anchors, partners], dim=1).cpu().numpy())


def _numbers_of_partners(source: NumberedSource, rows: Tensor, count: int, generator: Generator) -> Tensor | None:
    """So many partners for each of these anchors, [rows · count], if partners are anchors too."""
    drawn = [source.partners_of(rows, generator) for _ in range(count)]
    found = [partners for partners in drawn if partners is not None]
    return torch.cat(found).to(rows.device) if found else None


def _kept_back(codes: ArrayPairs) -> tuple[ArrayPairs, ArrayPairs]:
    """The pairs to learn from, and those of some anchors that are kept back."""
    back = codes.indices[:, 0] % _KEPT_BACK == 0
    learnt, unseen = (codes.indices[chosen].cpu().numpy() for chosen in (~back, back))
    return ArrayPairs(codes.observations, learnt), ArrayPairs(codes.observations, unseen)


@torch.no_grad()
def _bits(learner: Learner, unseen: ArrayPairs, device: str) -> float:
    """Mean bits of the first of these pairs."""
    assert isinstance(learner, ContrastiveLearner)
    pairs = unseen.at(torch.arange(min(_MOST_COMPARED, len(unseen))), device)
    first, second = (learner.codes(half).cpu() for half in pairs)
    with torch.enable_grad():  # widths are matched by their slope
        return round(float(held_out_bits(learner.model, first, second).mean()), 4)


def _numbered(checkpoint: Path, start: int) -> Path:
    return checkpoint.with_name(f"{checkpoint.stem}-{start}{checkpoint.suffix}")


def _seed_of(seed: int, start: int) -> int:
    return int(torch.randint(_SEEDS, (1,), generator=random_stream(seed, f"start {start}")))


def _counted_from(steps: int, report: Report) -> Report:
    """A report of what comes after so many steps."""
    return lambda step, loss, scores: report(steps + step, loss, scores)
