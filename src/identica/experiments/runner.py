"""Turn (row, seed, protocol) into a stored record."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
import torch
from torch import Generator, Tensor

from identica._machine import describe_machine, peak_memory_mb, versions
from identica.encoders import Encoder
from identica.experiments.definition import Row, space_name
from identica.experiments.store import Record, RunStore
from identica.metrics import linear_r2, mcc
from identica.processes import LeakyReLUMixing, SyntheticProcess
from identica.protocols import Protocol
from identica.training import Report, Supervised, resolve_device, train

__all__ = ["Run", "execute", "make_encoder", "make_process", "random_stream"]

_EVALUATION_SAMPLES = 4096
_WHITENING_SAMPLES = 16_384
_CURVE_POINTS = 20


@final
@dataclass(frozen=True)
class Run:
    """One training run: a row, a seed (of the mixing, the weights and the data), a protocol, with labels or without."""

    row: Row
    seed: int
    protocol: Protocol
    supervised: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides the result, as plain data. Rows with the same supervised baseline share it."""
        row = self.row
        settings: dict[str, Any] = {
            "format": 1,
            "kind": "supervised" if self.supervised else "unsupervised",
            "seed": self.seed,
            "dim": row.space.dim,
            "observed": row.observed or row.space.dim,
            "space": space_name(row.space),
            "marginal": str(row.marginal),
            "model_space": row.model.space,
            "protocol": asdict(self.protocol),
        }
        if not self.supervised:
            settings |= {
                "row": row.id,
                "conditional": str(row.conditional),
                "model_conditional": row.model.conditional,
            }
        return settings

    @property
    def name(self) -> str:
        """A readable name with a hash of the settings."""
        digest = hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()[:10]
        return f"{'supervised' if self.supervised else self.row.id}-{self.protocol.name}-s{self.seed}-{digest}"

    @property
    def label(self) -> str:
        """What a progress bar calls the run."""
        return f"{self.row.id}{' supervised' if self.supervised else ''} seed {self.seed}"


def execute(run: Run, store: RunStore, *, device: str = "auto", report: Report | None = None) -> Record:
    """Return the stored record of a run, training it first (or going on with it) if there is none."""
    stored = store.load(run.name)
    if stored is not None:
        return stored
    started = time.monotonic()
    device = resolve_device(device)
    torch.set_num_threads(run.protocol.threads or os.cpu_count() or 1)
    process = make_process(run, device)
    latents, observations = process.labelled(_EVALUATION_SAMPLES, random_stream(run.seed, "evaluation", device))
    protocol, encoder = run.protocol, make_encoder(run, process, device)
    task = Supervised(process, protocol.batch_size) if run.supervised else protocol.task(run.row.model, process)
    prepared = time.monotonic() - started
    trained = train(
        encoder,
        task,
        protocol.optimizers(encoder),
        protocol.schedule,
        generator=random_stream(run.seed, "batches", device),
        device=device,
        evaluate=lambda module: _scores(latents, module(observations)),
        evaluate_every=max(1, protocol.steps // _CURVE_POINTS),
        checkpoint=store.checkpoint(run.name),
        report=report,
    )
    with torch.no_grad():
        codes = encoder.eval()(observations)
    record = {
        "row": "supervised" if run.supervised else run.row.id,  # rows share that baseline
        "kind": run.settings["kind"],
        "seed": run.seed,
        "protocol": protocol.name,
        "steps": protocol.steps,
        **({} if run.supervised else {"metric": run.row.metric}),
        **_final_scores(latents, codes, observations),
        "curve": trained.curve,
        "settings": run.settings,
        "versions": versions(),
    }
    cost = {
        "seconds": round(prepared + trained.seconds, 2),
        "peak_memory_mb": peak_memory_mb(),
        "machine": describe_machine() | {"device": device},
    }
    arrays = {"latents": latents, "observations": observations, "codes": codes}
    store.save(run.name, record, cost, encoder, {name: _numpy(value) for name, value in arrays.items()})
    return record | cost


def make_process(run: Run, device: str = "cpu") -> SyntheticProcess:
    """The process of a run: its laws, and the mixing that its seed draws."""
    row = run.row
    mixing = LeakyReLUMixing.draw(row.space.dim, row.observed, generator=random_stream(run.seed, "mixing"))
    marginal, conditional = row.laws
    return SyntheticProcess(marginal, conditional, mixing.to(device))


def make_encoder(run: Run, process: SyntheticProcess, device: str = "cpu") -> Encoder:
    """The encoder of a run before training."""
    _, sample = process.labelled(_WHITENING_SAMPLES, random_stream(run.seed, "whitening", device))
    weights = random_stream(run.seed, "weights")
    return run.protocol.encoder(run.row.model.space, run.row.space.dim, sample.cpu(), weights).to(device)


def random_stream(seed: int, purpose: str, device: str = "cpu") -> Generator:
    """Independent randomness for each purpose of a seed."""
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return Generator(device).manual_seed(int.from_bytes(digest[:4], "big"))


def _scores(latents: Tensor, codes: Tensor) -> Mapping[str, float]:
    return {"r2": _percent(linear_r2(latents, codes).value), "mcc": _percent(mcc(latents, codes).value)}


def _final_scores(latents: Tensor, codes: Tensor, observations: Tensor) -> dict[str, Any]:
    linear, matched = linear_r2(latents, codes), mcc(latents, codes)
    identity = {f"identity_{name}": value for name, value in _scores(latents, observations).items()}
    return {
        "r2": _percent(linear.value),
        "mcc": _percent(matched.value),
        "r2_chance": _percent(linear.chance),
        "mcc_chance": _percent(matched.chance),
        "r2_per_factor": [_percent(value) for value in linear.per_factor],
        "mcc_per_factor": [_percent(value) for value in matched.per_factor],
        "assignment": matched.assignment,
        **identity,
    }


def _percent(value: float) -> float:
    return round(100 * value, 4)


def _numpy(values: Tensor) -> np.ndarray[Any, np.dtype[np.float32]]:
    return values.detach().cpu().float().numpy()
