"""Commands about the paper's experiments: list, reproduce, tabulate, publish, and the demo."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from identica._checks import InputError
from identica.cli._app import AsJson, Device, app, existing_store
from identica.cli._runs import (
    Out,
    ProtocolName,
    Seed,
    Seeds,
    Steps,
    Workers,
    chosen_seeds,
    collect,
    plan_rows,
)

if TYPE_CHECKING:
    from identica.experiments import Row, Run
    from identica.experiments.store import Record, RunStore

__all__ = ["demo", "export", "reproduce", "rows", "run", "table"]

WithSupervised = Annotated[bool, typer.Option("--supervised", help="Train the supervised baseline too.")]
WithReport = Annotated[
    bool, typer.Option("--report", help="Write report.html, a page to show, into each run's folder.")
]


@app.command()
def rows(as_json: AsJson = False) -> None:
    """List the experiments of the paper's tables."""
    from identica.experiments import ROWS

    for row in ROWS.values():
        described = _describe(row)
        if as_json:
            print(json.dumps(described))
        else:
            theory = "matches the theory" if row.matches_theory else ""
            score = f"{described['metric'].upper()} {described['unsupervised'][0]:.2f}"
            print(f"{row.id}  {row.process:<62} {described['model']:<28} {score:<11} {theory}".rstrip())


@app.command()
def reproduce(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ROW…", help="Rows, as `identica rows` names them.")
    ] = None,
    table: Annotated[list[str] | None, typer.Option("--table", help="All rows of table 1, 2 or workshop1.")] = None,
    seeds: Seeds = None,
    seed: Seed = None,
    protocol: ProtocolName = "fast",
    steps: Steps = None,
    supervised: WithSupervised = False,
    workers: Workers = None,
    device: Device = "auto",
    out: Out = Path("runs"),
    report: WithReport = False,
    as_json: AsJson = False,
) -> None:
    """Train rows of the paper's tables and store their scores."""
    from identica.experiments import find_rows, rows_of_table

    chosen = find_rows(ids or []) + [row for name in table or [] for row in rows_of_table(name)]
    if not chosen:
        raise InputError("name at least one row or --table: `identica rows` lists them")
    plan = plan_rows(list(dict.fromkeys(chosen)), chosen_seeds(seeds, seed), protocol, steps, supervised)
    _compute(plan, out, workers=workers, device=device, report=report, as_json=as_json)


@app.command()
def run(
    conditional: Annotated[str, typer.Option(help="p(z~|z), such as 'laplace(scale=0.1)' or 'vmf(kappa=10)'.")],
    model_conditional: Annotated[str, typer.Option(help="vmf, laplace, normal or 'gennorm(beta=4)'.")],
    space: Annotated[str, typer.Option(help="Space of the latents: sphere, box or unbounded.")] = "box",
    marginal: Annotated[str, typer.Option(help="p(z), such as uniform or 'normal(sigma=1)'.")] = "uniform",
    model_space: Annotated[str, typer.Option(help="Space of the codes: sphere, box or unbounded.")] = "box",
    dim: Annotated[int, typer.Option(help="Number of latents.")] = 10,
    observed: Annotated[int | None, typer.Option(help="Number of observed coordinates.")] = None,
    metric: Annotated[Literal["r2", "mcc"], typer.Option(help="The score that tables show.")] = "mcc",
    seeds: Seeds = None,
    seed: Seed = None,
    protocol: ProtocolName = "fast",
    steps: Steps = None,
    supervised: WithSupervised = False,
    workers: Workers = None,
    device: Device = "auto",
    out: Out = Path("runs"),
    report: WithReport = False,
    as_json: AsJson = False,
) -> None:
    """Train a synthetic experiment of your own: any space, law and model."""
    from identica.experiments import Row
    from identica.laws import parse_law
    from identica.models import Model
    from identica.spaces import parse_space

    row = Row(
        "own",
        parse_space(space, dim),
        parse_law(conditional),
        Model(model_space, model_conditional),
        metric=metric,
        marginal=parse_law(marginal),
        observed=observed,
    )
    plan = plan_rows([row], chosen_seeds(seeds, seed), protocol, steps, supervised)
    _compute(plan, out, workers=workers, device=device, report=report, as_json=as_json)


@app.command()
def table(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run store.")],
    style: Annotated[str, typer.Option("--format", help="text, markdown, latex or json.")] = "text",
) -> None:
    """Print paper against ours from stored records."""
    from identica.report import make_table

    print(make_table(existing_store(folder).records(), style))


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run store.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="Folder for the copies.")],
) -> None:
    """Copy the records of a store without codes and weights: small files, made to be published."""
    copied = existing_store(folder).export(target)
    print(f"{copied} records in {target}; `identica table {target}` shows them")


@app.command()
def demo(
    steps: Steps = None,
    seed: Annotated[int, typer.Option(help="Seed of the mixing, the weights and the data.")] = 0,
    out: Out = Path("demo"),
) -> None:
    """Watch the claim come true: recover ten factors from pairs of their mixtures alone."""
    from identica.experiments import ROWS, RunStore

    row = ROWS["t2-01"]
    print(
        "Ten factors in a box, uniform. Pairs of related points (Laplace noise) are mixed by a random network.\n"
        "The encoder sees the mixtures only; InfoNCE with the matching similarity should undo the mixing.\n",
        flush=True,
    )
    plan = plan_rows([row], [seed], "fast", steps, supervised=True)
    store, records = RunStore(out), collect(plan, out, workers=None, device="auto")
    contrastive, baseline = records[plan[0].name], records[plan[1].name]
    text = _demo_text(row, contrastive, baseline)
    print(text)
    page, picture = _demo_report(plan[0], store, out)
    print(f"\nReport, to open in a browser: {page}\nPicture of recovered against true factors: {picture}")


def _demo_text(row: Row, contrastive: Record, baseline: Record) -> str:
    assert row.identity is not None
    assert row.supervised is not None
    assert row.unsupervised is not None
    lines = [
        (
            "identity (the mixtures themselves)",
            row.identity.mean,
            contrastive["identity_r2"],
            contrastive["identity_mcc"],
        ),
        ("supervised (an upper bound)", row.supervised.mean, baseline["r2"], baseline["mcc"]),
        ("unsupervised (contrastive)", row.unsupervised.mean, contrastive["r2"], contrastive["mcc"]),
        ("chance (random codes)", None, contrastive["r2_chance"], contrastive["mcc_chance"]),
    ]
    header = f"{'score in percent':<36}{'MCC, paper':>12}{'MCC, here':>12}{'R², here':>12}"
    body = [
        f"{name:<36}{'–' if paper is None else format(paper, '.2f'):>12}{matched:>12.2f}{linear:>12.2f}"
        for name, paper, linear, matched in lines
    ]
    return "\n".join([header, *body, f"trained without labels in {contrastive['seconds']:.0f} s"])


def _demo_report(run: Run, store: RunStore, out: Path) -> tuple[Path, Path]:
    from identica.report import plot_factors

    arrays = store.codes(run.name)
    picture = out / "factors.png"
    plot_factors(arrays["latents"], arrays["codes"], picture, "recovered against true factors")
    return _write_report(run.name, store, out / "report.html"), picture


def _write_report(name: str, store: RunStore, path: Path) -> Path:
    from identica.report import report_of_run, write_page

    record = store.load(name)
    assert record is not None
    write_page(report_of_run(record, store.codes(name)), path)
    return path


def _describe(row: Row) -> dict[str, Any]:
    return {
        "row": row.id,
        "process": row.process,
        "model": f"{row.model.space}, {row.model.conditional}",
        "metric": row.metric,
        "matches_theory": row.matches_theory,
        "identity": row.identity,
        "supervised": row.supervised,
        "unsupervised": row.unsupervised,
    }


def _compute(plan: Sequence[Run], out: Path, *, workers: int | None, device: str, report: bool, as_json: bool) -> None:
    from identica.experiments import RunStore
    from identica.report import make_table

    def show(record: Record) -> None:
        if as_json:
            print(json.dumps(record), flush=True)

    records = collect(plan, out, workers=workers, device=device, show=show)
    for name in records if report else ():
        page = _write_report(name, RunStore(out), RunStore(out).root / name / "report.html")
        print(f"report: {page}", file=sys.stderr)
    if not as_json and any(record["kind"] == "unsupervised" for record in records.values()):
        print(make_table(records.values()))
        print(f"\n{len(records)} records in {RunStore(out).root}; `identica table {out}` shows all of them")
