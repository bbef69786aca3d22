"""Commands about a user's own data: fit, transform, score, select, consistency."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from identica import _checks
from identica._checks import InputError
from identica.cli._app import AsJson, Device, app

if TYPE_CHECKING:
    from identica.datafiles import Dataset

__all__ = ["consistency", "fit", "score", "select", "transform"]

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="A .npz, .npy, .csv, .tsv, .parquet, .h5 or .bvh file, or a folder of images or clips."
    ),
]
Lag = Annotated[int | None, typer.Option("--lag", help="Pair each row with the one so many rows later.")]
Trial = Annotated[str | None, typer.Option("--trial", help="Column or array of labels; pairs stay within a trial.")]
PairList = Annotated[
    Path | None, typer.Option("--pairs", help="A csv of partners: two row numbers, or two file names of images.")
]
Columns = Annotated[str | None, typer.Option("--columns", help="Features to use, separated by commas; default: all.")]
Components = Annotated[
    int | None, typer.Option("--n-components", help="Number of factors; default: as many as features.")
]
EncoderName = Annotated[
    str | None, typer.Option("--encoder", help="linear, mlp, conv or resnet; default: mlp, and conv for images.")
]
Directions = Annotated[
    int | None, typer.Option("--pca-components", help="Keep so many directions of most variance; default: all.")
]
MaxSteps = Annotated[int | None, typer.Option("--max-steps", help="Number of updates; default: by the recipe.")]
MaxSeconds = Annotated[float | None, typer.Option("--max-seconds", help="Time for training.")]
BatchSize = Annotated[int | None, typer.Option("--batch-size", help="Pairs in an update.")]
RandomState = Annotated[int, typer.Option("--random-state", help="Seed; the same one gives the same result.")]
Space = Annotated[str, typer.Option("--space", help="Where factors live: sphere, box or unbounded.")]
ConditionalName = Annotated[
    str, typer.Option("--conditional", help="How partners scatter: vmf, laplace, normal or 'gennorm(beta=3)'.")
]
Jobs = Annotated[int | None, typer.Option("--jobs", help="Fits side by side; default: one per core.")]


@app.command()
def fit(
    data: Data,
    out: Annotated[Path, typer.Option("--out", help="Folder for the fitted model.")],
    space: Space = "box",
    conditional: ConditionalName = "laplace",
    n_components: Components = None,
    random_state: RandomState = 0,
    lag: Lag = None,
    trial: Trial = None,
    pairs: PairList = None,
    columns: Columns = None,
    encoder: EncoderName = None,
    pca_components: Directions = None,
    max_steps: MaxSteps = None,
    max_seconds: MaxSeconds = None,
    batch_size: BatchSize = None,
    held_out: Annotated[float, typer.Option("--held-out", help="Part of the pairs to score, not to fit.")] = 0.1,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a page to show to others, such as report.html.")
    ] = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Recover the factors behind your own pairs, and save the encoder."""
    from identica import _model_folder
    from identica.estimator import ContrastiveICA
    from identica.models import with_article

    _checks.not_negative("random_state", random_state)
    given = _read(data, lag, trial, pairs, columns)
    estimator = ContrastiveICA(
        n_components,
        space=space,
        conditional=conditional,
        encoder=_encoder(encoder, given),
        pca_components=pca_components,
        max_steps=max_steps,
        max_seconds=max_seconds,
        batch_size=batch_size,
        device=device,
        random_state=random_state,
        verbose=not as_json,
    )
    _model_folder.check_place("--out", out)
    if report is not None and report.suffix != ".html":
        raise InputError(f"--report must end in .html, got {str(report)!r}")
    source = given.source(estimator)
    fitted, tested = source.split(held_out, in_order=given.lag is not None, seed=random_state)
    observations = given.labelled(source.observations.numpy())
    started = time.monotonic()
    estimator.fit(observations, pairs=fitted)
    seconds = time.monotonic() - started
    estimator.save(out)
    bits = estimator.score(observations, pairs=tested) if len(tested) else None
    if report is not None:
        _write_report(report, estimator, given, bits, seconds)
    result = {
        "model": str(out),
        "space": space,
        "conditional": conditional,
        "fitted": estimator.conditional_,
        "identified_up_to": estimator.ambiguity_,
        "n_components": estimator.n_components_,
        "pairs": len(fitted),
        "held_out_pairs": len(tested),
        "bits": None if bits is None else round(bits, 4),
        "steps": estimator.n_steps_,
        "seconds": round(seconds, 2),
    }
    if as_json:
        print(json.dumps(result))
        return
    print(
        f"{result['n_components']} components from {len(fitted)} pairs in {seconds:.0f} s, identified up to "
        f"{with_article(estimator.ambiguity_)} if the assumption holds"
    )
    print(f"partners differ by {estimator.conditional_}, in units of the codes")
    if bits is not None:
        print(f"{bits:.2f} bits a pair on {len(tested)} pairs that were held out")
    if report is not None:
        print(f"report, to open in a browser: {report}")
    print(f"model in {out}; `identica transform {out} DATA --out codes.npz` applies it")


@app.command()
def transform(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a fitted model.")],
    data: Data,
    out: Annotated[Path, typer.Option("--out", help="A .npz (array `codes`), .npy, .csv or .parquet file.")],
    columns: Columns = None,
    as_json: AsJson = False,
) -> None:
    """Write the codes of observations."""
    from identica.datafiles import read_dataset, write_codes
    from identica.estimator import ContrastiveICA

    estimator = ContrastiveICA.load(model)
    names = getattr(estimator, "feature_names_in_", None)
    chosen = _names(columns) if columns is not None else None if names is None else [str(name) for name in names]
    dataset = read_dataset(data, columns=chosen, to_fit=False)
    codes = estimator.transform(_labelled(dataset, dataset.observations))
    write_codes(out, codes, list(estimator.get_feature_names_out()))
    if as_json:
        print(json.dumps({"out": str(out), "samples": codes.shape[0], "n_components": codes.shape[1]}))
    else:
        print(f"codes of {codes.shape[0]} observations, {codes.shape[1]} each, in {out}")


@app.command()
def score(
    latents: Annotated[Path, typer.Argument(help="True factors, [samples, factors]: .npz, .npy, .csv, .parquet, .h5.")],
    codes: Annotated[Path, typer.Argument(help="Recovered codes, [samples, outputs], likewise.")],
    as_json: AsJson = False,
) -> None:
    """Score codes against known factors: R² and MCC with their chance levels, in percent."""
    from identica.datafiles import read_array
    from identica.metrics import linear_r2, mcc

    z, h = read_array("latents", latents), read_array("codes", codes)
    scores = {
        "r2": linear_r2(z, h),
        "mcc": mcc(z, h),
        "mcc_spearman": mcc(z, h, correlation="spearman"),
    }
    if as_json:
        flat = {name: round(100 * value.value, 4) for name, value in scores.items()}
        print(json.dumps(flat | {f"{name}_chance": round(100 * s.chance, 4) for name, s in scores.items()}))
        return
    for name, value in scores.items():
        print(f"{name:<14} {100 * value.value:6.2f}   (chance {100 * value.chance:.2f})")


@app.command()
def select(
    data: Data,
    n_components: Components = None,
    candidates: Annotated[
        str | None, typer.Option("--candidates", help="Such as 'box/laplace, sphere/vmf'; default: all seven.")
    ] = None,
    random_state: RandomState = 0,
    lag: Lag = None,
    trial: Trial = None,
    pairs: PairList = None,
    columns: Columns = None,
    encoder: EncoderName = None,
    pca_components: Directions = None,
    max_steps: MaxSteps = None,
    max_seconds: MaxSeconds = None,
    batch_size: BatchSize = None,
    held_out: Annotated[float, typer.Option("--held-out", help="Part of the pairs to compare on.")] = 0.2,
    jobs: Jobs = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Find the assumption (space and conditional) that fits your pairs best."""
    from identica.trust import CANDIDATES
    from identica.trust import select as select_assumption

    _checks.not_negative("random_state", random_state)
    given = _read(data, lag, trial, pairs, columns)
    found = select_assumption(
        given.dataset.observations,
        **given.pairs_of_fit(),
        candidates=CANDIDATES if candidates is None else _candidates(candidates),
        held_out=held_out,
        random_state=random_state,
        n_jobs=_jobs(jobs),
        n_components=n_components,
        lag=given.lag,
        encoder=_encoder(encoder, given),
        pca_components=pca_components,
        max_steps=max_steps,
        max_seconds=max_seconds,
        batch_size=batch_size,
        device=device,
    )
    print(json.dumps(found.summary()) if as_json else found)


@app.command()
def consistency(
    data: Data,
    models: Annotated[
        list[Path] | None, typer.Argument(metavar="[MODEL…]", help="Fitted models; default: fit here, with --seeds.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", help="How many fits, with random states counted from 0.")] = 5,
    space: Space = "box",
    conditional: ConditionalName = "laplace",
    n_components: Components = None,
    lag: Lag = None,
    trial: Trial = None,
    pairs: PairList = None,
    columns: Columns = None,
    encoder: EncoderName = None,
    pca_components: Directions = None,
    max_steps: MaxSteps = None,
    max_seconds: MaxSeconds = None,
    batch_size: BatchSize = None,
    jobs: Jobs = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """See whether fits from different seeds find the same components."""
    from identica.datafiles import read_dataset
    from identica.estimator import ContrastiveICA
    from identica.trust import consistency as compare

    if models:
        dataset = read_dataset(data, columns=None if columns is None else _names(columns), to_fit=False)
        found = compare(models, _labelled(dataset, dataset.observations))
    else:
        given = _read(data, lag, trial, pairs, columns)
        estimator = ContrastiveICA(
            n_components,
            space=space,
            conditional=conditional,
            encoder=_encoder(encoder, given),
            pca_components=pca_components,
            lag=given.lag,
            max_steps=max_steps,
            max_seconds=max_seconds,
            batch_size=batch_size,
            device=device,
        )
        observations = given.labelled(given.dataset.observations)
        found = compare(estimator, observations, seeds=seeds, n_jobs=_jobs(jobs), **given.pairs_of_fit())
    print(json.dumps(found.summary()) if as_json else found)


def _write_report(path: Path, estimator: Any, given: _Given, bits: float | None, seconds: float) -> None:
    from identica.report import report_of_fit, write_page

    dataset = given.dataset
    page = report_of_fit(
        estimator,
        given.labelled(dataset.observations),
        trials=dataset.trials if given.lag else None,
        bits=bits,
        seconds=seconds,
        series=given.lag is not None,
    )
    write_page(page, path)


class _Given(NamedTuple):
    """Data, and the lag that pairs it up if nothing else does."""

    dataset: Dataset
    lag: int | None

    def pairs_of_fit(self) -> dict[str, Any]:
        """What `fit` takes beside the observations."""
        dataset = self.dataset
        found = {"X_pos": dataset.positives, "pairs": dataset.pairs, "trials": dataset.trials if self.lag else None}
        return {name: value for name, value in found.items() if value is not None}

    def source(self, estimator: Any) -> Any:
        """All observations of the data, and index pairs into them."""
        from identica import _pairing

        values = _pairing.observations(estimator, self.dataset.observations, reset=True)
        pairs = {"X_pos": None, "pairs": None, "trials": None} | self.pairs_of_fit()
        return _pairing.make_pairs(values, None, pairs["X_pos"], pairs["pairs"], self.lag, pairs["trials"])

    def labelled(self, observations: Any) -> Any:
        """With the names of the columns."""
        return _labelled(self.dataset, observations)


def _labelled(dataset: Dataset, observations: Any) -> Any:
    if not dataset.names:
        return observations
    import pandas as pd

    return pd.DataFrame(observations, columns=list(dataset.names))


def _read(data: Path, lag: int | None, trial: str | None, pairs: Path | None, columns: str | None) -> _Given:
    from identica.datafiles import read_dataset

    if lag is not None:
        _checks.at_least_one("--lag", lag)
    dataset = read_dataset(data, columns=None if columns is None else _names(columns), trial=trial, pairs=pairs)
    paired = dataset.positives is not None or dataset.pairs is not None
    if paired and lag is not None:
        raise InputError(f"--lag must be left out, got {lag}: {str(data)!r} comes with partners of its own")
    if paired and trial is not None:
        raise InputError(f"--trial must be left out, got {trial!r}: {str(data)!r} comes with partners of its own")
    if not paired and lag is None and trial is None:
        raise InputError(
            f"--lag must be given, or partners (x_pos, columns that end in _pos, --pairs): {str(data)!r} has none"
        )
    return _Given(dataset, None if paired else lag or 1)


def _encoder(name: str | None, given: _Given) -> str:
    if name is not None:
        return name
    return "mlp" if given.dataset.observations.ndim == 2 else "conv"


def _names(columns: str) -> list[str]:
    return [name.strip() for name in columns.split(",")]


def _candidates(text: str) -> list[tuple[str, str]]:
    found = []
    for item in text.split(","):
        space, slash, conditional = item.strip().partition("/")
        if not slash:
            raise InputError(f"--candidates must be like 'box/laplace, sphere/vmf', got {item.strip()!r}")
        found.append((space, conditional))
    return found


def _jobs(jobs: int | None) -> int:
    return -1 if jobs is None else _checks.at_least_one("--jobs", jobs)
