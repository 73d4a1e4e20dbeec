"""The command `backtest`: its options, and what it prints and writes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from tripline_contracts.event_type import MAX_TIMESTAMP
from tripline_engine import logs
from tripline_engine.archive.journal import Journal, ReadableTopic
from tripline_engine.backtest.alert_table import AlertTable
from tripline_engine.backtest.backtest import backtest as run_backtest
from tripline_engine.backtest.beside import beside_of
from tripline_engine.backtest.history import history_of
from tripline_engine.backtest.labels import read_labels
from tripline_engine.backtest.ordered.file_history import Files, backtest_files
from tripline_engine.backtest.ordered.known_today import backtest_today
from tripline_engine.backtest.ordered.recorded_file import FileReport, mapping_of
from tripline_engine.backtest.progress_file import ProgressFile
from tripline_engine.backtest.tally import Tally
from tripline_engine.backtest.tried import Knowledge, Tried
from tripline_engine.backtest.tried_rules import TriedRule, counted, read_rules
from tripline_engine.certificate.settings import ReplaySettings, from_environment
from tripline_engine.certificate.span import Span
from tripline_engine.certificate.span_alert import AlertReader, SpanAlert
from tripline_engine.certificate.span_options import span_of
from tripline_engine.errors import BadSettings
from tripline_engine.kafka_log.careful_log import CarefulLog
from tripline_engine.kafka_log.record import Record
from tripline_engine.prover.settings import Judged
from tripline_engine.rebuild.journals import journals
from tripline_engine.rebuild.survey import all_records
from tripline_engine.topic_names import ALERTS, RULES, TRANSACTIONS

_SHOWN_GROUPS: Final = 5
_KNOWN: Final[Mapping[Knowledge, str]] = {"as-it-was": "as it was", "today": "as we know today"}


@dataclass(frozen=True, slots=True)
class Options:
    """How a backtest is run, and what is made of it; None is not asked for.

    :ivar beside: each `RULE`, or `TRIED=RULE`
    :ivar out: a new folder for alerts and result
    :ivar most_alerts: alerts that are written at most; all are counted
    :ivar knowledge: what is known at each moment
    :ivar recordings: files that are the history, in place of topic and archive; `mapping` says how they are read
    :ivar spark: the master of the Spark that judges; None: this process does
    :ivar shards: None: one in this process, two for each core on Spark
    """

    beside: Sequence[str] = ()
    engine: str | None = None
    shards: int | None = None
    out: Path | None = None
    labels: Path | None = None
    progress: Path | None = None
    most_alerts: int | None = None
    knowledge: Knowledge = "as-it-was"
    recordings: Sequence[Path] = ()
    mapping: Path | None = None
    spark: str | None = None


def backtest(files: Sequence[Path], first: str | None, until: str | None, options: Options) -> None:
    """Tries the rules, prints what came of it, and writes it to the folder. Raises EngineError."""
    _refuse_at_odds(options)
    whole = options.recordings and first is None and until is None
    span, settings = Span(0, MAX_TIMESTAMP) if whole else span_of(first, until), from_environment()
    logs.configure(settings.log_level)
    rules = read_rules(files, settings.event_type)
    beside = beside_of(options.beside, rules)
    labels = None if options.labels is None else read_labels(options.labels)
    tally = Tally(rules, settings.event_type, labels)
    tried, reports = _run(rules, span, settings, options, tally)
    result: dict[str, Any] = {
        "from": span.first,
        "until": span.until,
        **_history_json(tried, options, reports),
        "microBatches": tried.batches,
        "transactions": tried.transactions,
        "seconds": round(tried.seconds, 3),
        "rules": tally.to_json(beside, _live(settings, span, beside)),
    }
    if options.out is not None:
        text = json.dumps(result, indent=2, ensure_ascii=False)
        (options.out / "result.json").write_text(f"{text}\n", "utf-8")
    for report in reports:
        _print_file(report)
    history = "files" if reports else f"engine {tried.engine}, {_KNOWN[options.knowledge]}"
    click.echo(
        f"{history}: {tried.batches} micro-batches with {tried.transactions} transactions in {tried.seconds:.1f} s"
    )
    for row in result["rules"]:
        _print_rule(row)


def _run(
    rules: Sequence[TriedRule], span: Span, settings: ReplaySettings, options: Options, tally: Tally
) -> tuple[Tried, list[FileReport]]:
    event_type = settings.event_type
    with ExitStack() as stack:
        table = (
            None
            if options.out is None
            else stack.enter_context(
                AlertTable(new_folder(options.out) / "alerts.parquet", event_type, options.most_alerts)
            )
        )
        progress = (
            None if options.progress is None else ProgressFile(options.progress, time.monotonic, os.getppid())
        )

        unkept = counted(rules)

        def take(alert: SpanAlert) -> None:
            tally.take(alert)
            if table is not None and alert.alert["ruleId"] not in unkept:
                table.take(alert)

        def progressed(done: int, of: int, transactions: int) -> None:
            if progress is not None:
                progress.tell(done, of, transactions, tally.alerts)

        if options.recordings:
            mapping = mapping_of(options.mapping, event_type)
            files = Files(options.recordings, mapping, _named_values(rules, settings))
            judged = Judged(event_type, "data")
            if options.spark is not None:
                # Spark takes a second to import
                from tripline_engine.backtest.on_spark.job import judge_on  # noqa: PLC0415

                return judge_on(options.spark, options.shards, rules, span, files, judged, take, progressed)
            return backtest_files(rules, span, files, judged, take, options.shards or 1, progressed)
        by_topic = stack.enter_context(journals(settings, event_type))
        history = history_of(rules, span, options.engine, by_topic, event_type)
        judged = Judged(event_type, settings.clock)
        if options.spark is not None:
            from tripline_engine.backtest.on_spark.job import judge_on  # noqa: PLC0415
            from tripline_engine.backtest.on_spark.log_units import Logs  # noqa: PLC0415

            reopen = partial(journals, settings.elsewhere(), event_type, (TRANSACTIONS,))
            logs_here = Logs(history, by_topic, reopen, options.knowledge)
            return judge_on(options.spark, options.shards, rules, span, logs_here, judged, take, progressed)
        run = backtest_today if options.knowledge == "today" else run_backtest
        return run(rules, span, history, by_topic, judged, take, options.shards or 1, progressed), []


def _refuse_at_odds(options: Options) -> None:
    """Raises BadSettings."""
    if not options.recordings and options.mapping is not None:
        raise BadSettings("--mapping: goes with --files")
    if options.recordings and options.engine is not None:
        raise BadSettings("--engine: files are no engine's history")
    if options.recordings and options.knowledge != "as-it-was":
        raise BadSettings("--knowledge: of files there is one history, in order of event time")


def _named_values(rules: Sequence[TriedRule], settings: ReplaySettings) -> list[Record]:
    """rules.v1, where a rule looks into a list or compares with a parameter; else Kafka is not asked."""
    if not any(rule.definition.lists or rule.definition.parameters for rule in rules):
        return []
    with CarefulLog(settings.kafka, settings.topic(RULES)) as log:
        return list(all_records(Journal(log, None)))


def _history_json(tried: Tried, options: Options, reports: Sequence[FileReport]) -> dict[str, Any]:
    """What the alerts rest on."""
    if reports:
        return {"files": [report.to_json() for report in reports]}
    return {"knowledge": options.knowledge, "engine": tried.engine}


def _live(settings: ReplaySettings, span: Span, beside: Mapping[int, int]) -> Iterator[SpanAlert]:
    if beside:
        with CarefulLog(settings.kafka, settings.topic(ALERTS)) as alerts:
            yield from live_alerts(alerts, AlertReader(settings.event_type, span), frozenset(beside.values()))


def live_alerts(alerts: ReadableTopic, reader: AlertReader, rule_ids: frozenset[int]) -> Iterator[SpanAlert]:
    """The alerts of the span that these rules gave, whatever their versions, as alerts.v1 has them."""
    for partition in alerts.partitions():
        there = alerts.span(partition)
        for run in alerts.records(partition, there.first, there.until) if there.first < there.until else ():
            for record in run:
                alert = reader.read(record.value)
                if alert is not None and alert.alert.get("ruleId") in rule_ids:
                    yield alert


def new_folder(folder: Path) -> Path:
    """Makes it. Raises BadSettings where that can't be, or it is there already."""
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise BadSettings(f"--out: {folder} can't be made: {error.strerror}") from error
    return folder


def _print_file(report: FileReport) -> None:
    """What could not be read goes to stderr, line by line."""
    for unread in report.unread:
        click.echo(f"{report.name}, line {unread.line}: {unread.reason}", err=True)
    unused = f"; not read: {', '.join(report.unused)}" if report.unused else ""
    click.echo(f"{report.name}: {report.rows} rows, {report.bad} that cannot be read{unused}")


def _print_rule(row: dict[str, Any]) -> None:
    click.echo(f"{row['name']}: {row['alerts']} alerts in {row['groups']} groups")
    for top in row["topGroups"][:_SHOWN_GROUPS]:
        group = ", ".join(f"{name} {value}" for name, value in top["group"].items()) or "the one group"
        click.echo(f"  {top['alerts']} of {group}")
    if "beside" in row:
        overlap = row["beside"]
        click.echo(
            f"  beside rule {overlap['ruleId']}: {overlap['both']} of both, {overlap['onlyTried']} of this one only,"
            f" {overlap['onlyLive']} of the live one only"
        )
    if "labelled" in row:
        labelled = row["labelled"]
        click.echo(
            f"  beside labels: precision {labelled['precision'] or 'unknown'},"
            f" recall {labelled['recall'] or 'unknown'}; {labelled['fraudFound']} of {labelled['fraud']} frauds found"
        )
