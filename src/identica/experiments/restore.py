"""Bring a finished run back from the store: its process and its trained encoder, to compute with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from torch import Tensor

from identica._checks import InputError
from identica.encoders import Encoder
from identica.experiments.definition import Row
from identica.experiments.paper import metric_of
from identica.experiments.runner import Run, make_encoder, make_process
from identica.experiments.store import Record, RunStore
from identica.laws import parse_law
from identica.models import Model
from identica.processes import SyntheticProcess
from identica.protocols import Protocol
from identica.spaces import parse_space

__all__ = ["Restored", "restore", "run_of"]


@final
@dataclass(frozen=True)
class Restored:
    """A finished run, on the CPU.

    Args:
        run: What was trained.
        process: Where its pairs came from, with the same mixing.
        encoder: As it was after training, ready for evaluation.
    """

    run: Run
    process: SyntheticProcess
    encoder: Encoder

    def h(self, latents: Tensor) -> Tensor:
        """Codes of latents: the mixing, then the encoder."""
        codes: Tensor = self.encoder(self.process.mixing(latents))
        return codes


def restore(store: RunStore, name: str) -> Restored:
    """Bring back the contrastive run of that name.

    Args:
        store: Where it was trained; copies made by `export` have no weights.
        name: Of a finished run, as `store.names()` lists them.
    """
    record = store.load(name)
    if record is None:
        raise InputError(f"name must be that of a finished run of the store, got {name!r}")
    run = run_of(record)
    process = make_process(run)
    encoder = make_encoder(run, process)
    encoder.load_state_dict(store.weights(name))
    return Restored(run, process, encoder.eval())


def run_of(record: Record) -> Run:
    """The run that gave a record."""
    settings = record["settings"]
    if settings["kind"] != "unsupervised":
        raise InputError(f"record must be of a contrastive run, got {settings['kind']!r}")
    try:
        protocol = Protocol(**settings["protocol"] | {"widths": tuple(settings["protocol"]["widths"])})
    except TypeError as error:
        raise InputError(f"the record of {settings['row']!r} is not of this version: {error}") from None
    row = Row(
        settings["row"],
        parse_space(settings["space"], settings["dim"]),
        parse_law(settings["conditional"]),
        Model(settings["model_space"], settings["model_conditional"]),
        metric_of(record),
        marginal=parse_law(settings["marginal"]),
        observed=settings["observed"],
    )
    return Run(row, settings["seed"], protocol)
