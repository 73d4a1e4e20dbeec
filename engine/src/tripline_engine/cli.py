"""`tripline-engine run`, `rebuild`, `prover`, `prove`, `backtest`, `propose-mapping`, `estimate` and `warm-up`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from tripline_engine import logs
from tripline_engine.errors import EngineError
from tripline_engine.private_files import private_files
from tripline_engine.spark.settings import EngineSettings, from_environment


@click.group()
def main() -> None:
    """Tripline's engine: judges a stream of transactions by rules that change while it runs."""


@main.command()
def run() -> None:
    """Run until SIGTERM. Settings come from TRIPLINE_… environment variables."""
    with _sentences(), private_files():
        settings = from_environment()
        logs.configure(settings.log_level)
        # Spark takes a second to import: settings are refused before that
        from tripline_engine.spark.driver.engine import run as run_engine  # noqa: PLC0415

        run_engine(settings, _refuse_without_history)


@main.command()
@click.option(
    "--engine", metavar="ID", help="The engine to rebuild, of several in the order; else the newest."
)
def rebuild(engine: str | None) -> None:
    """Make a checkpoint where there is none, from the recorded order, the topics and the archive.

    Settings are those of `run`. Goes through all that was ever judged, without Spark; then `run` goes on where the last
    recorded micro-batch ended.
    """
    with _sentences(), private_files():
        settings = from_environment()
        logs.configure(settings.log_level)
        from tripline_engine.rebuild.rebuild_job import rebuild as rebuild_engine  # noqa: PLC0415  # compiled kernels

        done = rebuild_engine(settings, settings.event_type, engine)
        click.echo(
            f"engine {done.engine}, {done.shards} shards: {done.batches} micro-batches with {done.transactions}"
            f" transactions in {done.seconds:.1f} s; {done.repeated} records of the last one were written again"
        )


@main.command()
def prover() -> None:
    """Answer the alert API's questions about alerts until SIGTERM: derives them again from topics and archive.

    Settings are those of `run` as far as they say where the logs are, and TRIPLINE_PROVER_….
    """
    with _sentences(), private_files():
        from tripline_engine.prover.process import run as run_prover  # noqa: PLC0415  # compiled kernels
        from tripline_engine.prover.settings import from_environment as prover_settings  # noqa: PLC0415

        settings = prover_settings()
        logs.configure(settings.log_level)
        run_prover(settings)


@main.command()
@click.option(
    "--from", "first", metavar="TIME", help="Event time of the first alerts: RFC 3339 with an offset."
)
@click.option("--to", "until", metavar="TIME", help="The end of the span, excluded.")
@click.option("--engine", metavar="ID", help="Only the alerts of this engine, of several in the order.")
@click.option(
    "--shards", type=click.IntRange(1, 256), default=1, help="Replay in so many; the outcome is the same."
)
@click.option("--certificate", type=click.Path(path_type=Path), help="Write the certificate to this file.")
@click.option("--check", type=click.Path(path_type=Path), help="Make this certificate again, and compare.")
def prove(
    first: str | None,
    until: str | None,
    engine: str | None,
    shards: int,
    certificate: Path | None,
    check: Path | None,
) -> None:
    """Judge again what was recorded, and compare the alerts with those of alerts.v1.

    Prints match (exit status 0), or the first differences (3). Settings are those of `run` as far as they say where the
    logs are. The engine may run meanwhile.
    """
    with _sentences(), private_files():
        from tripline_engine.certificate.command import prove as prove_span  # noqa: PLC0415  # compiled kernels

        sys.exit(prove_span(first, until, engine, shards, certificate, check))


@main.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--from", "first", metavar="TIME", help="In force from this event time: RFC 3339. Needed but of files."
)
@click.option("--to", "until", metavar="TIME", help="The end of the span, excluded.")
@click.option(
    "--files",
    "recordings",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The history, in place of topic and archive: CSV, JSON or Parquet, packed or not. May be repeated.",
)
@click.option(
    "--mapping", type=click.Path(path_type=Path), help="Which columns of the files are which fields."
)
@click.option(
    "--beside",
    multiple=True,
    metavar="[TRIED=]RULE",
    help="Compare with the alerts that this rule gave live: all tried rules, or the one with that id.",
)
@click.option(
    "--engine", metavar="ID", help="The history of this engine, of several in the order; else the newest."
)
@click.option("--shards", type=click.IntRange(1, 256), help="Replay in so many; the outcome is the same.")
@click.option("--spark", metavar="MASTER", help="Judge on Spark: local[2], or spark://… of a cluster.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="A new folder for alerts.parquet and result.json."
)
@click.option("--most-alerts", type=click.IntRange(min=0), help="Write no more; all are counted.")
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    help='Decided transactions, for precision and recall: lines of {"id": "…", "fraud": true}.',
)
@click.option(
    "--knowledge",
    type=click.Choice(["as-it-was", "today"]),
    default="as-it-was",
    show_default=True,
    help="What counts at each moment: what the engine knew then, or what is known today.",
)
@click.option("--progress", type=click.Path(path_type=Path), help="Tell in this file how far it is.")
def backtest(files: tuple[Path, ...], first: str | None, until: str | None, **options: Any) -> None:
    """Try the rules of YAML or JSON files on recorded history, as if they had been in force over the span.

    A file has what `POST /v1/rules` takes. Settings are those of `prove`. The engine may run meanwhile.
    """
    with _sentences(), private_files():
        from tripline_engine.backtest.command import Options  # noqa: PLC0415  # compiled kernels
        from tripline_engine.backtest.command import backtest as try_rules  # noqa: PLC0415

        try_rules(files, first, until, Options(**options))


@main.command("propose-mapping")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--mapping",
    type=click.Path(path_type=Path),
    help="Show the first rows as they are read with this mapping, and what cannot be read, instead.",
)
def propose_mapping(file: Path, mapping: Path | None) -> None:
    """Print a mapping for FILE, made from its first rows, for `backtest --files` and for the replay.

    What is not certain says so in a comment; what is not known is left open.
    """
    with _sentences():
        from tripline_engine.backtest.mapping_command import propose_mapping as propose  # noqa: PLC0415  # kernels

        propose(file, mapping)


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--days",
    type=click.IntRange(1, 3_660),
    default=7,
    show_default=True,
    help="Of the newest history, at most.",
)
@click.option(
    "--transactions",
    type=click.IntRange(min=1_000),
    default=1_000_000,
    show_default=True,
    help="About so many at most are judged: of more history a sample of groups, by hash.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="A new folder for result.json; else it is printed."
)
@click.option("--progress", type=click.Path(path_type=Path), help="Tell in this file how far it is.")
def estimate(file: Path, **options: Any) -> None:
    """Try the rule of a YAML or JSON file on a sample of the newest history: counts, in JSON, for an estimate.

    The rules registry makes figures with error ranges of them. Settings are those of `prove`.
    """
    with _sentences(), private_files():
        from tripline_engine.backtest.estimate_command import EstimateOptions  # noqa: PLC0415  # compiled kernels
        from tripline_engine.backtest.estimate_command import estimate as try_rule  # noqa: PLC0415

        try_rule(file, EstimateOptions(**options))


@main.command("warm-up")
def warm_up() -> None:
    """Compile the engine's kernels into their cache, so that the first micro-batch doesn't wait for it."""
    from tripline_engine.spark.worker.warm_up import warm_up_parallel  # noqa: PLC0415

    warm_up_parallel()


def _refuse_without_history(settings: EngineSettings, now_ms: int) -> None:
    # once in an engine's life: not among what each start imports
    from tripline_engine.rebuild.cold_start import refuse_without_history  # noqa: PLC0415

    refuse_without_history(settings, settings.event_type, now_ms)


@contextmanager
def _sentences() -> Iterator[None]:
    """Errors are sentences, not tracebacks."""
    try:
        yield
    except EngineError as error:
        click.echo(f"tripline-engine: {error}", err=True)
        sys.exit(1)
