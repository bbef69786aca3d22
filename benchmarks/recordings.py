"""Real recordings: do refits agree, and can measured behaviour be read from the codes? identica and its neighbours.

python benchmarks/recordings.py [--only NAME …] [--methods identica pca …] [--seeds 3] [--jobs 2]
    [--store runs/recordings] [--cebra-env DIR] [--out docs/recordings]

Recordings are those of IDENTICA_DATA/recordings. Every fit has one thread and ends in the store with its seconds of
processor time, so that the script goes on where it was stopped; what the store does not have is kept as it was
published. CEBRA runs in an environment of its own, which is made if it is not there.

Held out are every fifth trial, or where there are fewer than ten trials every fifth of twenty blocks of a recording.
Codes of held-out rows are scored: how well a linear map takes those of one refit to those of another (R²), and how well
behaviour is read from them by nearest neighbours among fitted rows (R²), with their number chosen on fitted trials.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica._files import replacing
from identica._machine import describe_machine
from identica.datafiles import data_folder

Array = NDArray[Any]
COMPONENTS = 3
NEIGHBOURS = (5, 10, 25, 50, 100)
BLOCKS, FOLDS = 20, 5
DIRECTIONS_OF_SLOWNESS = 20
CEBRA = {
    "model_architecture": "offset10-model",
    "batch_size": 512,
    "learning_rate": 3e-4,
    "distance": "cosine",
    "max_iterations": 5000,
    "output_dimension": COMPONENTS,
}
CEBRA_REQUIREMENTS = ("torch==2.13.0", "cebra==0.6.1")


@dataclass(frozen=True)
class Recording:
    """A recording, and what is asked of it.

    Args:
        name: Of the file.
        lag: Rows between partners.
        read: Names of the behaviour that is read from the codes.
    """

    name: str
    lag: int
    read: tuple[str, ...]


RECORDINGS = (
    Recording("monkey_chewie_20131003", 1, ("vel_x", "vel_y")),
    Recording("monkey_chewie_20131003_50ms", 2, ("vel_x", "vel_y")),
    Recording("monkey_chewie_20131219", 1, ("vel_x", "vel_y")),
    Recording("monkey_mihi_20140303", 1, ("vel_x", "vel_y")),
    Recording("rat_linear_track", 10, ("position_track01",)),
    Recording("mouse_ca1_arousal", 5, ("state0", "state1", "state2")),
    Recording("ble_rssi", 2, ("pos_x_m", "pos_y_m")),
    Recording("joint_capsule", 5, ("rpy_x", "rpy_y", "rpy_z")),
)


@dataclass(frozen=True)
class Task:
    """One recording, cut into rows to fit and rows to score."""

    recording: Recording
    x: Array
    behaviour: Array
    trials: Array
    held_out: Array

    @property
    def fitted(self) -> Array:
        return np.flatnonzero(~self.held_out)


def load(recording: Recording) -> Task:
    """Read a recording and mark what is held out."""
    with np.load(data_folder() / "recordings" / f"{recording.name}.npz") as arrays:
        names = [str(name) for name in arrays["behaviour_names"]]
        behaviour = arrays["behaviour"][:, [names.index(name) for name in recording.read]].astype(float)
        x, trials = arrays["x"].astype(np.float32), np.unique(arrays["trials"], return_inverse=True)[1].ravel()
    runs = np.concatenate([[0], np.cumsum(np.diff(trials) != 0)])
    if runs[-1] + 1 < 10:  # cut long trials into blocks
        blocks = np.arange(len(x)) * BLOCKS // len(x)
        runs = np.concatenate([[0], np.cumsum((np.diff(runs) != 0) | (np.diff(blocks) != 0))])
    held_out = runs % FOLDS == FOLDS - 1
    heard = np.ptp(x[~held_out], axis=0) > 0  # a channel that is silent in all fitted rows says nothing
    return Task(recording, x[:, heard], behaviour, runs, held_out)


def pca(task: Task, seed: int) -> tuple[Array, dict[str, Any]]:
    from sklearn.decomposition import PCA

    return PCA(COMPONENTS, random_state=seed).fit(task.x[task.fitted]).transform(task.x), {}


def fastica(task: Task, seed: int) -> tuple[Array, dict[str, Any]]:
    from sklearn.decomposition import FastICA

    model = FastICA(COMPONENTS, random_state=seed, whiten="unit-variance", max_iter=1000)
    return model.fit(task.x[task.fitted]).transform(task.x), {}


def slow_features(task: Task, seed: int) -> tuple[Array, dict[str, Any]]:
    """Linear slow feature analysis: the directions of unit variance in which partners differ least."""
    import torch
    from sklearn.decomposition import PCA

    from identica.axes import second_order_axes
    from identica.sources import lagged_pairs

    del seed  # nothing is drawn
    rows = task.fitted
    values = PCA(min(DIRECTIONS_OF_SLOWNESS, task.x.shape[1])).fit(task.x[rows]).transform(task.x)
    pairs = lagged_pairs(len(rows), task.recording.lag, task.trials[rows])
    first, second = (torch.from_numpy(values[rows][pairs[:, half]]).double() for half in (0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of directions that are equally slow
        axes = second_order_axes(first, second).numpy()
    return values @ axes[:, :COMPONENTS], {}


def identica(labelled: bool = False, **settings: Any) -> Callable[[Task, int], tuple[Array, dict[str, Any]]]:
    def run(task: Task, seed: int) -> tuple[Array, dict[str, Any]]:
        from identica import ContrastiveICA

        rows = task.fitted
        given = {"lag": task.recording.lag} if not labelled else {}
        model = ContrastiveICA(COMPONENTS, random_state=seed, **given, **settings)
        labels = {"labels": task.behaviour[rows]} if labelled else {}
        model.fit(task.x[rows], trials=task.trials[rows], **labels)
        about = {"chosen": model.chosen_}
        if model.validation_score_ is not None:
            about["held_out_bits"] = round(float(model.validation_score_), 3)
            about["fitted_bits"] = round(float(model.fitted_bits_ or 0), 3)
        return model.transform(task.x, trials=task.trials), about

    return run


def cebra(labelled: bool) -> Callable[[Task, int], tuple[Array, dict[str, Any]]]:
    def run(task: Task, seed: int) -> tuple[Array, dict[str, Any]]:
        settings = CEBRA | {"time_offsets": task.recording.lag, "seed": seed}
        settings["conditional"] = "time_delta" if labelled else "time"
        given = {"x": task.x, "fitted": task.fitted, "settings": json.dumps(settings)}
        if labelled:
            given["labels"] = task.behaviour
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
            np.savez(source, **given)
            worker = Path(__file__).with_name("cebra_worker.py")
            environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
            subprocess.run([os.environ["CEBRA_PYTHON"], worker, source, target], check=True, env=environment)
            with np.load(target) as found:
                return found["codes"], {"seconds": float(found["seconds"])}

    return run


METHODS: dict[str, Callable[[Task, int], tuple[Array, dict[str, Any]]]] = {
    "identica": identica(),
    "CEBRA, time": cebra(labelled=False),
    "CEBRA, behaviour": cebra(labelled=True),
    "PCA": pca,
    "FastICA": fastica,
    "slow features": slow_features,
    "identica, behaviour": identica(labelled=True),
}
PLAIN = {"encoder": "mlp", "pca_components": None, "scaling": "none", "noise": 0.0, "window": 1}
PARTS: dict[str, Callable[[Task, int], tuple[Array, dict[str, Any]]]] = {
    "nothing held out or chosen: 3000 steps": identica(max_steps=3000),
    "only steps by held-out pairs": identica(**PLAIN),
    "all but the network: mlp": identica(encoder="mlp"),
    "all but directions: all of them": identica(pca_components=None),
    "all but scaling: none": identica(scaling="none"),
    "all but noise: none": identica(noise=0.0),
    "all but the window: one row": identica(window=1),
}
PARTS_ON = ("monkey_mihi_20140303", "rat_linear_track", "ble_rssi")


def make_cebra_environment(folder: Path) -> None:
    """An environment with CEBRA, unless it is there; its interpreter is `$CEBRA_PYTHON`."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *CEBRA_REQUIREMENTS], check=True)
    os.environ["CEBRA_PYTHON"] = str(python)


def compute(task: Task, method: str, seed: int, store: Path) -> None:
    """Fit one method to one recording, unless the store has it."""
    import torch

    target = store / f"{_file(task, method)}-s{seed}.npz"
    if target.exists():
        return
    torch.set_num_threads(1)
    started = time.process_time()
    codes, about = (METHODS | PARTS)[method](task, seed)
    about = {"seconds": time.process_time() - started} | about
    with replacing(target) as unfinished, unfinished.open("wb") as file:
        np.savez(file, codes=np.asarray(codes, dtype=np.float32), about=json.dumps(about))
    print(f"{task.recording.name}, {method}, seed {seed}: {about['seconds']:.0f} s", file=sys.stderr, flush=True)


def _file(task: Task, method: str) -> str:
    return f"{task.recording.name}-{method.replace(',', '').replace(':', '').replace(' ', '-')}"


def agreement(task: Task, codes: Sequence[Array]) -> float:
    """Mean R² of linear maps between the codes of refits, fitted on fitted rows and scored on held-out ones."""
    from sklearn.linear_model import LinearRegression

    found = []
    for one, other in combinations(codes, 2):
        for given, wanted in ((one, other), (other, one)):
            line = LinearRegression().fit(given[task.fitted], wanted[task.fitted])
            found.append(line.score(given[task.held_out], wanted[task.held_out]))
    return float(np.mean(found)) if found else float("nan")


def decoding(task: Task, codes: Array) -> float:
    """R² of behaviour read from held-out codes by nearest neighbours; their number is chosen on fitted trials."""
    from sklearn.metrics import r2_score
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.neighbors import KNeighborsRegressor

    rows, wanted = task.fitted, task.behaviour
    scaled = (codes - codes[rows].mean(axis=0)) / codes[rows].std(axis=0).clip(1e-9)
    folds = list(GroupKFold(FOLDS).split(rows, groups=task.trials[rows]))
    models = [KNeighborsRegressor(count) for count in NEIGHBOURS if count < len(rows) * (FOLDS - 1) // FOLDS]
    inner = [r2_score(wanted[rows], cross_val_predict(model, scaled[rows], wanted[rows], cv=folds)) for model in models]
    best = models[int(np.argmax(inner))].fit(scaled[rows], wanted[rows])
    return float(r2_score(wanted[task.held_out], best.predict(scaled[task.held_out])))


def score(task: Task, method: str, store: Path) -> dict[str, Any] | None:
    """What the store has of a method on a recording."""
    codes, about = [], []
    for path in sorted(store.glob(f"{_file(task, method)}-s*.npz")):
        with np.load(path) as arrays:
            codes.append(arrays["codes"].astype(float))
            about.append(json.loads(str(arrays["about"])))
    if not codes:
        return None
    decoded = [decoding(task, one) for one in codes]
    return {
        "recording": task.recording.name,
        "method": method,
        "seeds": len(codes),
        "agreement": round(agreement(task, codes), 3) if len(codes) > 1 else None,
        "decoding": round(float(np.mean(decoded)), 3),
        "decoding_from_to": [round(min(decoded), 3), round(max(decoded), 3)],
        "seconds": round(float(np.mean([one["seconds"] for one in about])), 1),
        "about": [{key: value for key, value in one.items() if key != "seconds"} for one in about],
    }


def published(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Results that were written before, by recording and method: of what the store does not have, they are kept."""
    if not path.exists():
        return {}
    results = json.loads(path.read_text(encoding="utf-8"))["results"]
    return {(one["recording"], one["method"]): one for one in results}


def markdown(results: Sequence[dict[str, Any]]) -> str:
    """A line for each recording and method."""
    lines = [
        "| recording | method | refits agree, R² | behaviour read, R² (from – to) | held-out bits | seconds |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for result in results:
        low, high = result["decoding_from_to"]
        bits = [one["held_out_bits"] for one in result["about"] if "held_out_bits" in one]
        agreed = "–" if result["agreement"] is None else f"{result['agreement']:.2f}"
        told = f"{np.mean(bits):.2f}" if bits else "–"
        lines.append(
            f"| {result['recording']} | {result['method']} | {agreed} | {result['decoding']:.2f} "
            f"({low:.2f} – {high:.2f}) | {told} | {result['seconds']:.0f} |"
        )
    return "\n".join(lines)


def draw(results: Sequence[dict[str, Any]], path: Path) -> None:
    """Behaviour read, and agreement of refits, a group of bars for each recording."""
    from matplotlib.figure import Figure

    recordings = list(dict.fromkeys(one["recording"] for one in results))
    methods = list(dict.fromkeys(one["method"] for one in results))
    figure = Figure(figsize=(11, 6.5), layout="constrained")
    panels = figure.subplots(2, 1, sharex=True)
    for axes, key, title in zip(
        panels, ("decoding", "agreement"), ("behaviour read, R²", "refits agree, R²"), strict=True
    ):
        for number, method in enumerate(methods):
            found = {one["recording"]: one[key] for one in results if one["method"] == method}
            places = [
                place + (number - len(methods) / 2 + 0.5) * 0.8 / len(methods) for place in range(len(recordings))
            ]
            heights = [max(found.get(name) or 0.0, 0.0) for name in recordings]
            axes.bar(places, heights, 0.75 / len(methods), label=method)
        axes.set(ylabel=title, ylim=(0, 1.02))
        axes.grid(axis="y", alpha=0.3)
    panels[1].set_xticks(range(len(recordings)), [name.replace("_", "\n") for name in recordings], fontsize=8)
    panels[0].legend(ncols=len(methods), fontsize=8, loc="upper left", bbox_to_anchor=(0, 1.18))
    with replacing(path) as unfinished:
        figure.savefig(unfinished, format="png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", help="parts of the names of recordings")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--parts", action="store_true", help="what each part of a fit is worth, on three recordings")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--store", type=Path, default=Path("runs/recordings"))
    parser.add_argument("--cebra-env", type=Path, default=Path("runs/cebra-env"))
    parser.add_argument("--out", type=Path, default=Path("docs/recordings"))
    options = parser.parse_args()
    from joblib import Parallel, delayed

    if options.parts:
        options.only, options.methods = options.only or list(PARTS_ON), ["identica", *PARTS]
    if any(method.startswith("CEBRA") for method in options.methods):
        make_cebra_environment(options.cebra_env.absolute())
    options.store.mkdir(parents=True, exist_ok=True)
    tasks = [load(one) for one in RECORDINGS if not options.only or any(part in one.name for part in options.only)]
    Parallel(n_jobs=options.jobs)(
        delayed(compute)(task, method, seed, options.store)
        for seed in range(options.seeds)
        for task in tasks
        for method in options.methods
    )
    shown = options.methods if options.parts else METHODS
    everything = tasks if options.parts else [load(one) for one in RECORDINGS]
    name = "parts" if options.parts else "results"
    older = published(options.out / f"{name}.json")
    found = [
        score(task, method, options.store) or older.get((task.recording.name, method))
        for task in everything
        for method in shown
    ]
    results = [one for one in found if one is not None]
    options.out.mkdir(parents=True, exist_ok=True)
    content = {"machine": describe_machine(), "results": results}
    with replacing(options.out / f"{name}.json") as unfinished:
        unfinished.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    with replacing(options.out / f"{name}.md") as unfinished:
        unfinished.write_text(markdown(results) + "\n", encoding="utf-8")
    if not options.parts:
        draw(results, options.out / "recordings.png")
    print(markdown(results))


if __name__ == "__main__":
    main()
