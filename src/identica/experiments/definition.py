"""An experiment is a row of data: a source, a learner, scores, and what the paper reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, final

from identica.experiments.runner import Run
from identica.learners import Contrastive, LearnerSettings, Supervised
from identica.metrics import DEFAULT_SCORES
from identica.objectives import InBatch
from identica.recipes import Recipe, wide_codes
from identica.sources import Part, SourceSettings

__all__ = ["Changes", "Published", "Reference", "Row", "plan"]

Subject = Literal["identity", "supervised", "unsupervised"]


class Reference(NamedTuple):
    """A published score in percent: mean and, unless none is printed, standard deviation over seeds."""

    mean: float
    deviation: float | None


@final
@dataclass(frozen=True)
class Published:
    """A score that the paper reports.

    Args:
        score: Its name, as in `identica.metrics.SCORES`.
        subject: What was scored: the observations themselves (`identity`), the supervised encoder, or the row's own.
        reference: Its value.
    """

    score: str
    subject: Subject
    reference: Reference


@final
@dataclass(frozen=True)
class Changes:
    """What the rows of a table change of a protocol's recipe for images; what is not given stays.

    Args:
        network: Of the encoder.
        pairs: In a batch; with labels, a batch has twice as many images.
        steps: Number of updates.
        learning_rate: Of the matrices.
        one_size: Hold all codes at one size by their moments, and learn a width for each in the similarity.
        in_batch: Where negatives come from.
        neighbours: Anchors of a batch that are near to one another.
        wide: How many codes without bounds to learn first; those of the model are learnt from these.
        with_labels: What the supervised baseline changes instead, if that is something else.
    """

    network: str | None = None
    pairs: int | None = None
    steps: int | None = None
    learning_rate: float | None = None
    one_size: bool = False
    in_batch: InBatch | None = None
    neighbours: int | None = None
    wide: int | None = None
    with_labels: Changes | None = None

    def apply(self, recipe: Recipe, learner: LearnerSettings) -> Recipe:
        """The learner's recipe with these changes."""
        labelled, training = learner.kind == "supervised", recipe.training
        if labelled and self.with_labels is not None:
            return self.with_labels.apply(recipe, learner)
        training = replace(
            training,
            steps=self.steps or training.steps,
            batch_size=training.batch_size if self.pairs is None else self.pairs * (2 if labelled else 1),
            learning_rate=self.learning_rate or training.learning_rate,
        )
        encoder = recipe.encoder if self.network is None else replace(recipe.encoder, network=self.network)
        if self.one_size and recipe.contrastive is not None:
            encoder = replace(encoder, normalise_codes=True, free_widths=True)
        loss = recipe.contrastive
        if loss is not None:
            loss = replace(
                loss,
                in_batch=self.in_batch or loss.in_batch,
                neighbours=self.neighbours or loss.neighbours,
            )
        wide = wide_codes(self.wide, learner.model) if self.wide and isinstance(learner, Contrastive) else None
        return replace(recipe, training=training, encoder=encoder, contrastive=loss, wide=wide)


@final
@dataclass(frozen=True)
class Row:
    """One line of a table.

    Args:
        id: Its name, such as `t2-01`.
        source: Where pairs come from.
        learner: What is trained.
        scores: What a table shows, the score that the row is about first.
        published: Scores of the paper.
        matches_theory: Whether the theorem's assumptions hold.
        part: What is scored, where the source keeps samples apart: these, or some that are trained on.
        fast: What the row changes of the fast protocol.
        paper: What it changes of the paper's.
    """

    id: str
    source: SourceSettings
    learner: LearnerSettings
    scores: tuple[str, ...] = DEFAULT_SCORES
    published: tuple[Published, ...] = ()
    matches_theory: bool = False
    part: Part = "test"
    fast: Changes = Changes()
    paper: Changes = Changes()

    @property
    def score(self) -> str:
        """The score that the row is about."""
        return self.scores[0]

    def reference(self, subject: Subject, score: str | None = None) -> Reference | None:
        """What the paper reports; of the row's own score if none is named."""
        wanted = subject, score or self.score
        return next((one.reference for one in self.published if (one.subject, one.score) == wanted), None)

    def run(self, seed: int, protocol: str = "fast", steps: int | None = None) -> Run:
        """The run of this row."""
        return Run(self.source, self.learner, self._recipe(self.learner, protocol, steps), seed, self.id, self.scores)

    def baseline(self, seed: int, protocol: str = "fast", steps: int | None = None) -> Run:
        """The run of its supervised baseline, which other rows may share."""
        learner = Supervised(self.source.baseline_space(self.learner.code_space))
        recipe = self._recipe(learner, protocol, steps)
        return Run(self.source, learner, recipe, seed, f"{self.id} supervised", self.scores)

    def _recipe(self, learner: LearnerSettings, protocol: str, steps: int | None) -> Recipe:
        recipe = learner.recipe_for(protocol, images=self.source.observes == "images")
        return (self.paper if protocol == "paper" else self.fast).apply(recipe, learner).with_steps(steps)


def plan(
    rows: Sequence[Row],
    seeds: Sequence[int],
    protocol: str = "fast",
    *,
    steps: int | None = None,
    supervised: bool = False,
) -> list[Run]:
    """The runs of some rows, each once: rows that are the same experiment share it.

    Args:
        rows: What to train.
        seeds: Of the mixings, weights and pairs.
        protocol: `fast` or `paper`.
        steps: Number of updates instead of the protocol's.
        supervised: Train the supervised baselines too.
    """
    found: dict[str, Run] = {}
    for row in rows:
        for seed in seeds:
            runs = [row.run(seed, protocol, steps)]
            for run in [*runs, row.baseline(seed, protocol, steps)] if supervised else runs:
                same = found.get(run.name)
                found[run.name] = run if same is None else same.shared_with(run)
    return list(found.values())
