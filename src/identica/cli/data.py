"""Commands about a user's own data: fit, transform, score, select, consistency."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from identica import _checks
from identica._checks import InputError
from identica._names import check_assumption, check_engine
from identica._places import check_model_there, check_there
from identica.cli import _fitted, _values
from identica.cli._app import AsJson, app
from identica.cli._engines import chosen_engine
from identica.cli._given import check_options, read, with_column_names
from identica.cli._options import (
    Address,
    Array,
    Columns,
    Data,
    EngineName,
    FitOptions,
    HeldOut,
    Jobs,
    Layout,
    Overwrite,
    Seed,
    Trial,
    takes,
)
from identica.cli._outputs import check_outputs, say_replaced
from identica.cli._said import kept_if_interrupted, say
from identica.cli._shown import show_fit, write_report
from identica.cli._warnings import quiet_fits, warn_of_nothing

__all__ = ["consistency", "fit", "score", "select", "transform"]

Space = Annotated[str, typer.Option("--space", help="Where factors live: sphere, box or unbounded.")]
ConditionalName = Annotated[
    str,
    typer.Option(
        "--conditional",
        help="How partners scatter: vmf, laplace, normal or 'gennorm(beta=3)'; auto: vmf on the sphere, else laplace.",
    ),
]
Refits = Annotated[
    int | None,
    typer.Option("--refits", help="Fits with other seeds, to see whether they agree; default: 1, 0 with a budget."),
]
Page = Annotated[Path | None, typer.Option("--report", help="Write a page to show to others, such as report.html.")]
Color = Annotated[
    str | None, typer.Option("--color", help="With --report: columns or arrays to colour samples by; no features.")
]


@app.command()
@takes(FitOptions)
def fit(
    data: Data,
    out: Annotated[Path, typer.Option("--out", help="Folder for the fitted model.")],
    options: FitOptions,
    space: Space = "box",
    conditional: ConditionalName = "auto",
    seed: Seed = 0,
    held_out: HeldOut = "auto",
    refits: Refits = None,
    report: Page = None,
    color: Color = None,
    overwrite: Overwrite = False,
) -> None:
    """Recover the factors behind your own pairs, and save the encoder."""
    check_assumption(space, conditional)
    _checks.seed("--seed", seed)
    part = _values.fraction("--held-out", held_out)
    check_options(options)
    check_outputs(out, report, overwrite=overwrite)
    if color is not None and report is None:
        raise InputError(f"--color needs --report, the page that shows it, got --color {color} alone")
    given = read(data, options, beside=_values.names(color) or ())
    from identica.estimator import ContrastiveICA

    budget = options.steps is not None or options.max_seconds is not None
    estimator = ContrastiveICA(
        **given.settings(options),
        space=space,
        conditional=conditional,
        validation_fraction="always" if part == "auto" else part,
        refits=int(not budget) if refits is None else refits,
        random_state=seed,
        verbose=not options.as_json,
    )
    started = time.monotonic()
    with kept_if_interrupted("nothing was written, and what is at the places to write to is as it was"):
        estimator.fit(given.observations, **given.pairs_of_fit())
    seconds = time.monotonic() - started
    _fitted.save(estimator, out, given.dataset.trial)
    if report is not None:
        with kept_if_interrupted(f"the model is in {out}, the page was not written"):
            write_report(report, estimator, data, given, seconds)
    show_fit(estimator, out, report, seconds, options.as_json, given.dataset.names)


@app.command()
def transform(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a fitted model.")],
    data: Data,
    out: Annotated[Path, typer.Option("--out", help="A .npz (array `codes`), .npy, .csv or .parquet file.")],
    columns: Columns = None,
    trial: Trial = None,
    array: Array = None,
    layout: Layout = "auto",
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write the codes of observations."""
    check_model_there(model)
    check_there("DATA", data)
    from identica.datafiles import check_codes, write_codes

    check_codes("--out", out, overwrite=overwrite)
    say_replaced(out)
    from identica.estimator import ContrastiveICA

    estimator = ContrastiveICA.load(model)
    dataset = _fitted.read_for(estimator, model, data, columns, trial, array, layout)
    codes = estimator.transform(with_column_names(dataset, dataset.observations), trials=dataset.trials)
    write_codes(out, codes, list(estimator.get_feature_names_out()))
    if as_json:
        print(json.dumps({"out": str(out), "samples": codes.shape[0], "n_components": codes.shape[1]}))
    else:
        say(f"codes of {codes.shape[0]} observations, {codes.shape[1]} each, in {out}")


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
    seed: Seed = 0,
    held_out: Annotated[float, typer.Option("--held-out", help="Part of the pairs to compare on.")] = 0.2,
    jobs: Jobs = None,
    engine: EngineName = "local",
    address: Address = None,
) -> None:
    """Find the assumption (space and conditional) that fits your pairs best."""
    _checks.seed("--seed", seed)
    side_by_side, wanted = _jobs(jobs), None if candidates is None else _candidates(candidates)
    check_engine(engine, address)
    given = read(data, options)
    from identica.validation import CANDIDATES
    from identica.validation import select as select_assumption

    with quiet_fits(), chosen_engine(engine, jobs, address, options.device).serving():
        found = select_assumption(
            given.dataset.observations,
            **given.pairs_of_fit(),
            **given.settings(options),
            candidates=wanted or CANDIDATES,
            numbers=() if numbers is None else _values.wholes("--numbers", numbers),
            held_out=held_out,
            random_state=seed,
            n_jobs=side_by_side,
        )
    print(json.dumps(found.summary()) if options.as_json else found)


@app.command()
@takes(FitOptions)
def consistency(
    context: typer.Context,
    data: Data,
    options: FitOptions,
    models: Annotated[
        list[Path] | None, typer.Argument(metavar="[MODEL…]", help="Fitted models; default: fit here, with --seeds.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", help="How many fits, with random states counted from 0.")] = 5,
    space: Space = "box",
    conditional: ConditionalName = "auto",
    held_out: HeldOut = "auto",
    jobs: Jobs = None,
    engine: EngineName = "local",
    address: Address = None,
) -> None:
    """See whether fits from different seeds find the same components."""
    check_assumption(space, conditional)
    side_by_side, part = _jobs(jobs), _values.fraction("--held-out", held_out)
    check_engine(engine, address)
    if models:
        found = _of_models(context, data, models, options)
    else:
        _checks.at_least("seeds", seeds, 2)
        given = read(data, options)
        from identica.estimator import ContrastiveICA
        from identica.validation import consistency as compare
        from identica.validation import refit

        estimator = ContrastiveICA(
            **given.settings(options), space=space, conditional=conditional, validation_fraction=part
        )
        with quiet_fits(), chosen_engine(engine, jobs, address, options.device).serving():
            fits = refit(estimator, given.observations, seeds=seeds, n_jobs=side_by_side, **given.pairs_of_fit())
        warn_of_nothing(fits)
        found = compare(fits, given.observations, trials=given.trials)
    print(json.dumps(found.summary()) if options.as_json else found)


def _of_models(context: typer.Context, data: Path, models: Sequence[Path], options: FitOptions) -> Any:
    """The consistency of models that were fitted before; options of a fit have no meaning then."""
    allowed = {"context", "data", "models", "columns", "trial", "array", "layout", "as_json", "quiet", "config"}
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name not in allowed and source is not None and source.name != "DEFAULT":
            raise InputError(f"{parameter.opts[0]} must be left out with models, which are fitted already")
    for model in models:
        check_model_there(model)
    check_there("DATA", data)
    from identica.estimator import ContrastiveICA
    from identica.validation import consistency as compare

    first = ContrastiveICA.load(models[0])
    dataset = _fitted.read_for(first, models[0], data, options.columns, options.trial, options.array, options.layout)
    return compare(list(models), with_column_names(dataset, dataset.observations), trials=dataset.trials)


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
