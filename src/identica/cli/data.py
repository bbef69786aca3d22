"""Commands about a user's own data: fit, transform, score, select, consistency."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from identica import _checks
from identica._checks import InputError
from identica.cli import _fitted, _values
from identica.cli._app import AsJson, app
from identica.cli._given import read, with_column_names
from identica.cli._options import Columns, Data, FitOptions, Jobs, Overwrite, Trial, Validation, takes
from identica.cli._outputs import check_outputs, say_replaced
from identica.cli._shown import show_fit, write_report
from identica.cli._warnings import quiet_fits, warn_of_nothing

__all__ = ["consistency", "fit", "score", "select", "transform"]

RandomState = Annotated[int, typer.Option("--random-state", help="Seed; the same one gives the same result.")]
Space = Annotated[str, typer.Option("--space", help="Where factors live: sphere, box or unbounded.")]
ConditionalName = Annotated[
    str, typer.Option("--conditional", help="How partners scatter: vmf, laplace, normal or 'gennorm(beta=3)'.")
]


@app.command()
@takes(FitOptions)
def fit(
    data: Data,
    out: Annotated[Path, typer.Option("--out", help="Folder for the fitted model.")],
    options: FitOptions,
    space: Space = "box",
    conditional: ConditionalName = "laplace",
    random_state: RandomState = 0,
    validation_fraction: Validation = "auto",
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a page to show to others, such as report.html.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Recover the factors behind your own pairs, and save the encoder."""
    _checks.seed("random_state", random_state)
    part = _values.fraction("--validation-fraction", validation_fraction)
    check_outputs(out, report, overwrite=overwrite)
    given = read(data, options)
    from identica.estimator import ContrastiveICA

    estimator = ContrastiveICA(
        **given.settings(options),
        space=space,
        conditional=conditional,
        validation_fraction=part,
        random_state=random_state,
        verbose=not options.as_json,
    )
    started = time.monotonic()
    estimator.fit(given.observations, **given.pairs_of_fit())
    seconds = time.monotonic() - started
    _fitted.save(estimator, out, options.trial)
    if report is not None:
        write_report(report, estimator, given.observations, given.trials, seconds)
    show_fit(estimator, out, report, seconds, options.as_json)


@app.command()
def transform(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a fitted model.")],
    data: Data,
    out: Annotated[Path, typer.Option("--out", help="A .npz (array `codes`), .npy, .csv or .parquet file.")],
    columns: Columns = None,
    trial: Trial = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write the codes of observations."""
    from identica.datafiles import check_codes, write_codes

    check_codes("--out", out, overwrite=overwrite)
    say_replaced(out)
    from identica.estimator import ContrastiveICA

    estimator = ContrastiveICA.load(model)
    dataset = _fitted.read_for(estimator, model, data, columns, trial)
    codes = estimator.transform(with_column_names(dataset, dataset.observations), trials=dataset.trials)
    write_codes(out, codes, list(estimator.get_feature_names_out()))
    if as_json:
        print(json.dumps({"out": str(out), "samples": codes.shape[0], "n_components": codes.shape[1]}))
    else:
        print(f"codes of {codes.shape[0]} observations, {codes.shape[1]} each, in {out}")


@app.command()
def score(
    latents: Annotated[Path, typer.Argument(help="True factors, [samples, factors]: .npz, .npy, .csv, .parquet, .h5.")],
    codes: Annotated[Path, typer.Argument(help="Recovered codes, [samples, outputs], likewise.")],
    scores: Annotated[str | None, typer.Option("--scores", help="Such as mig,dci; default: all that apply.")] = None,
    kinds: Annotated[
        str | None,
        typer.Option(
            "--kinds",
            help="Of each factor: continuous, circular, ordinal or categorical, such as ordinal,circular. "
            "Default: whole numbers of few values are ordinal, others continuous.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score codes against known factors: R², MCC, DCI and others with their chance levels, in percent."""
    from identica.cli._scores import compute, show
    from identica.datafiles import read_array

    factors, found = read_array("latents", latents), read_array("codes", codes)
    show(compute(factors, found, _values.names(scores), _values.names(kinds), visible=not as_json), as_json)


@app.command()
@takes(FitOptions)
def select(
    data: Data,
    options: FitOptions,
    candidates: Annotated[
        str | None, typer.Option("--candidates", help="Such as 'box/laplace, sphere/vmf'; default: all seven.")
    ] = None,
    numbers: Annotated[
        str | None, typer.Option("--numbers", help="Numbers of components to compare: 2,3,4 or 2:6.")
    ] = None,
    random_state: RandomState = 0,
    held_out: Annotated[float, typer.Option("--held-out", help="Part of the pairs to compare on.")] = 0.2,
    jobs: Jobs = None,
) -> None:
    """Find the assumption (space and conditional) that fits your pairs best."""
    from identica.validation import CANDIDATES
    from identica.validation import select as select_assumption

    _checks.seed("random_state", random_state)
    given = read(data, options)
    with quiet_fits():
        found = select_assumption(
            given.dataset.observations,
            **given.pairs_of_fit(),
            **given.settings(options),
            candidates=CANDIDATES if candidates is None else _candidates(candidates),
            numbers=() if numbers is None else _values.wholes("--numbers", numbers),
            held_out=held_out,
            random_state=random_state,
            n_jobs=_jobs(jobs),
        )
    print(json.dumps(found.summary()) if options.as_json else found)


@app.command()
@takes(FitOptions)
def consistency(
    data: Data,
    options: FitOptions,
    models: Annotated[
        list[Path] | None, typer.Argument(metavar="[MODEL…]", help="Fitted models; default: fit here, with --seeds.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", help="How many fits, with random states counted from 0.")] = 5,
    space: Space = "box",
    conditional: ConditionalName = "laplace",
    validation_fraction: Validation = "auto",
    jobs: Jobs = None,
) -> None:
    """See whether fits from different seeds find the same components."""
    from identica.datafiles import read_dataset
    from identica.estimator import ContrastiveICA
    from identica.validation import consistency as compare
    from identica.validation import refit

    if models:
        dataset = read_dataset(data, columns=_values.names(options.columns), trial=options.trial, to_fit=False)
        found = compare(models, with_column_names(dataset, dataset.observations), trials=dataset.trials)
    else:
        given = read(data, options)
        part = _values.fraction("--validation-fraction", validation_fraction)
        estimator = ContrastiveICA(
            **given.settings(options), space=space, conditional=conditional, validation_fraction=part
        )
        with quiet_fits():
            fits = refit(estimator, given.observations, seeds=seeds, n_jobs=_jobs(jobs), **given.pairs_of_fit())
        warn_of_nothing(fits)
        found = compare(fits, given.observations, trials=given.trials)
    print(json.dumps(found.summary()) if options.as_json else found)


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
