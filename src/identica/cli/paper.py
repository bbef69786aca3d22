"""Commands about the paper's experiments: list, reproduce, tabulate, publish, and the demo."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from identica import _checks
from identica._checks import InputError
from identica._places import check_folder
from identica.cli._app import AsJson, app, existing_store
from identica.cli._options import Out, ProtocolName, RunOptions, Seed, Steps, takes
from identica.cli._runs import chosen_seeds, collect
from identica.cli._said import say

if TYPE_CHECKING:
    from identica.experiments import Row, Run, RunStore
    from identica.experiments.store import Record
    from identica.learners import Axes
    from identica.models import Widths

__all__ = ["demo", "export", "reproduce", "rows", "run", "table"]

OneSeed = Annotated[int | None, typer.Option("--seed", help="One seed.")]
WithSupervised = Annotated[bool, typer.Option("--supervised", help="Train the supervised baseline too.")]
WithReport = Annotated[
    bool, typer.Option("--report", help="Write report.html, a page to show, into each run's folder.")
]


@app.command()
def rows(as_json: AsJson = False) -> None:
    """List the experiments of the paper's tables."""
    from identica.experiments import ROWS
    from identica.metrics import symbol

    for row in ROWS.values():
        if as_json:
            print(json.dumps(_describe(row)))
        else:
            theory = "matches the theory" if row.matches_theory else ""
            reference = row.reference("unsupervised")
            score = "ours" if reference is None else f"{symbol(row.score)} {reference.mean:.2f}"
            print(f"{row.id}  {row.source!s:<62} {row.learner!s:<28} {score:<11} {theory}".rstrip())


@app.command()
@takes(RunOptions)
def reproduce(
    options: RunOptions,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ROW…", help="Rows, as `identica rows` names them.")
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(
            "--table", help="All rows of table 1 to 5, workshop1 to workshop5, or our own 3-widths, workshop2-infonce."
        ),
    ] = None,
    seed: OneSeed = None,
    protocol: ProtocolName = "fast",
    size: Annotated[
        str,
        typer.Option("--size", help="laptop (a smaller set of images, or what is there) or paper (all of the data)."),
    ] = "laptop",
    rendered_pairs: Annotated[
        bool,
        typer.Option("--rendered-pairs", help="3DIdent: partners that were rendered for their anchors."),
    ] = False,
    bfloat16: Annotated[
        bool, typer.Option("--bf16", help="Networks compute with 16 bits in training: for GPUs that are faster so.")
    ] = False,
    supervised: WithSupervised = False,
    report: WithReport = False,
) -> None:
    """Train rows of the paper's tables and store their scores."""
    from identica.experiments import find_rows, plan, rows_of_table

    chosen = find_rows(ids or []) + [row for name in table or [] for row in rows_of_table(name)]
    if not chosen:
        raise InputError("name at least one row or --table: `identica rows` lists them")
    seeds = chosen_seeds(options.seeds, seed)
    whole = _checks.choice("--size", size, ("laptop", "paper")) == "paper"
    here = [_with_data(row, whole, rendered_pairs) for row in dict.fromkeys(chosen)]
    runs = plan(here, seeds, protocol, steps=options.steps, supervised=supervised)
    _compute([replace(one, recipe=one.recipe.in_bfloat16()) for one in runs] if bfloat16 else runs, options, report)


def _with_data(row: Row, whole: bool, rendered: bool) -> Row:
    """The same row with the data that were asked for."""
    source = row.source.rendered() if rendered else row.source
    return replace(row, source=source if whole else source.available())


@app.command()
@takes(RunOptions)
def run(
    conditional: Annotated[str, typer.Option(help="p(z~|z), such as 'laplace(scale=0.1)' or 'vmf(kappa=10)'.")],
    model_conditional: Annotated[str, typer.Option(help="vmf, laplace, normal or 'gennorm(beta=4)'.")],
    options: RunOptions,
    space: Annotated[str, typer.Option(help="Space of the latents: sphere, box or unbounded.")] = "box",
    marginal: Annotated[str, typer.Option(help="p(z), such as uniform or 'normal(sigma=1)'.")] = "uniform",
    model_space: Annotated[str, typer.Option(help="Space of the codes: sphere, box or unbounded.")] = "box",
    dim: Annotated[int, typer.Option(help="Number of latents.")] = 10,
    observed: Annotated[int | None, typer.Option(help="Number of observed coordinates.")] = None,
    mixing: Annotated[
        str, typer.Option(help="g, such as 'layers(layers=5)', 'layers(activation=softplus)' or 'layers(bias=0.3)'.")
    ] = "layers()",
    codes: Annotated[int | None, typer.Option(help="Number of codes; default: as many as latents.")] = None,
    widths: Annotated[
        str,
        typer.Option(help="free (a width learnt for each code) or equal (one for all, as in the paper)."),
    ] = "free",
    axes: Annotated[str, typer.Option(help="learnt, or second-order for an unbounded normal model.")] = "learnt",
    hidden: Annotated[
        str | None, typer.Option(help="Hidden widths of the encoder, such as 128,128,128; default: the protocol's.")
    ] = None,
    shuffle_pairs: Annotated[
        bool, typer.Option("--shuffle-pairs", help="Give each anchor the partner of another one, as a control.")
    ] = False,
    seed: OneSeed = None,
    protocol: ProtocolName = "fast",
    supervised: WithSupervised = False,
    report: WithReport = False,
) -> None:
    """Train a synthetic experiment of your own: any space, law, mixing and model."""
    from identica.experiments import Row, plan
    from identica.laws import parse_law
    from identica.learners import Contrastive
    from identica.models import Model
    from identica.sources import Synthetic, parse_mixing
    from identica.spaces import parse_space

    laws = parse_law(conditional, dim), parse_law(marginal, dim)
    source = Synthetic(parse_space(space, dim), *laws, observed, parse_mixing(mixing), shuffle_pairs)
    model = Model.named(model_space, model_conditional, codes or dim, cast("Widths", widths))
    row = Row("own", source, Contrastive(model, cast("Axes", axes)))
    runs = plan([row], chosen_seeds(options.seeds, seed), protocol, steps=options.steps, supervised=supervised)
    _compute([_with_hidden(one, hidden) for one in runs], options, report)


def _with_hidden(run: Run, text: str | None) -> Run:
    """The same run with other hidden layers, if there is a text."""
    if text is None:
        return run
    try:
        widths = tuple(int(width) for width in text.split(","))
    except ValueError:
        raise InputError(f"--hidden must be whole numbers such as 128,128, got {text!r}") from None
    name = f"{run.recipe.name}-{'x'.join(map(str, widths))}"
    encoder = replace(run.recipe.encoder, widths=widths)
    return replace(run, recipe=replace(run.recipe, name=name, encoder=encoder))


@app.command()
def table(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run store.")],
    style: Annotated[str, typer.Option("--format", help="text, markdown, latex or json.")] = "text",
) -> None:
    """Print paper against ours from stored records."""
    store = existing_store(folder)
    from identica.report import make_table

    print(make_table(store.records(), style))


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run store.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="Folder for the copies.")],
) -> None:
    """Copy the records of a store without codes and weights: small files, made to be published."""
    store = existing_store(folder)
    check_folder("TARGET", target)
    copied = store.export(target)
    say(f"{copied} records in {target}; `identica table {target}` shows them")


@app.command()
def demo(
    steps: Steps = None,
    seed: Seed = 0,
    out: Out = Path("demo"),
) -> None:
    """Watch the claim come true: recover ten factors from pairs of their mixtures alone."""
    check_folder("--out", out)
    from identica.experiments import ROWS, RunStore, plan

    row = ROWS["t2-01"]
    say(
        "Ten factors in a box, uniform. Pairs of related points (Laplace noise) are mixed by a random network.\n"
        "The encoder sees the mixtures only; InfoNCE with the matching similarity should undo the mixing.\n",
    )
    runs = plan([row], [seed], steps=steps, supervised=True)
    store, records = RunStore(out), collect(runs, RunOptions(out=out))
    contrastive, baseline = (records[one.name] for one in runs)
    print(_demo_text(row, contrastive, baseline))
    page, picture = _demo_report(runs[0], store, out)
    say(f"\nReport, to open in a browser: {page}\nPicture of recovered against true factors: {picture}")


def _demo_text(row: Row, contrastive: Record, baseline: Record) -> str:
    def values(record: Record, key: str = "value") -> tuple[float, float]:
        return record["scores"]["mcc"][key], record["scores"]["r2"][key]

    identity = contrastive["identity"]["mcc"], contrastive["identity"]["r2"]
    lines = [
        ("identity (the mixtures themselves)", row.reference("identity"), identity),
        ("supervised (an upper bound)", row.reference("supervised"), values(baseline)),
        ("unsupervised (contrastive)", row.reference("unsupervised"), values(contrastive)),
        ("chance (random codes)", None, values(contrastive, "chance")),
    ]
    header = f"{'score in percent':<36}{'MCC, paper':>12}{'MCC, here':>12}{'R², here':>12}"
    body = [
        f"{name:<36}{'–' if paper is None else format(paper.mean, '.2f'):>12}{matched:>12.2f}{linear:>12.2f}"
        for name, paper, (matched, linear) in lines
    ]
    return "\n".join([header, *body, f"trained without labels in {contrastive['seconds']:.0f} s"])


def _demo_report(run: Run, store: RunStore, out: Path) -> tuple[Path, Path]:
    from identica.report import plot_factors

    arrays = store.arrays(run.name)
    picture = out / "factors.png"
    plot_factors(arrays["factors"], arrays["codes"], picture, "recovered against true factors")
    return _write_report(run.name, store, out / "report.html"), picture


def _write_report(name: str, store: RunStore, path: Path) -> Path:
    from identica.experiments import traverse_run
    from identica.report import report_of_run, write_page

    record = store.load(name)
    assert record is not None
    write_page(report_of_run(record, store.arrays(name), along=traverse_run(store, name)), path)
    return path


def _describe(row: Row) -> dict[str, Any]:
    return {
        "row": row.id,
        "source": str(row.source),
        "learner": str(row.learner),
        "scores": row.scores,
        "matches_theory": row.matches_theory,
        **{subject: row.reference(subject) for subject in ("identity", "supervised", "unsupervised")},
    }


def _compute(runs: Sequence[Run], options: RunOptions, report: bool) -> None:
    from identica.experiments import RunStore
    from identica.report import make_table

    def show(record: Record) -> None:
        if options.as_json:
            print(json.dumps(record), flush=True)

    records, store = collect(runs, options, show), RunStore(options.out)
    for name in records if report else ():
        page = _write_report(name, store, store.root / name / "report.html")
        print(f"report: {page}", file=sys.stderr)
    if not options.as_json and any(record["kind"] == "unsupervised" for record in records.values()):
        print(make_table(records.values()))
        say(f"\n{len(records)} records in {store.root}; `identica table {options.out}` shows all of them")
