"""The command `backtest`: its options, and what it prints and writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import click

from tripline_engine import logs
from tripline_engine.archive.journal import ReadableTopic
from tripline_engine.backtest.alert_table import AlertTable
from tripline_engine.backtest.backtest import backtest as run_backtest
from tripline_engine.backtest.history import history_of
from tripline_engine.backtest.tally import Tally
from tripline_engine.backtest.tried_rules import read_rules
from tripline_engine.certificate.settings import from_environment
from tripline_engine.certificate.span_alert import AlertReader, SpanAlert
from tripline_engine.certificate.span_options import span_of
from tripline_engine.errors import BadSettings
from tripline_engine.kafka_log.careful_log import CarefulLog
from tripline_engine.rebuild.journals import journals
from tripline_engine.topic_names import ALERTS

_SHOWN_GROUPS: Final = 5


def backtest(
    files: Sequence[Path],
    first: str,
    until: str,
    beside: int | None,
    engine: str | None,
    shards: int,
    out: Path | None,
) -> None:
    """Tries the rules, prints what came of it, and writes it to the folder. Raises EngineError."""
    span, settings = span_of(first, until), from_environment()
    logs.configure(settings.log_level)
    event_type = settings.event_type
    rules = read_rules(files, event_type)
    tally, reader = Tally(rules, event_type), AlertReader(event_type, span)
    with ExitStack() as stack:
        table = (
            None if out is None else stack.enter_context(AlertTable(_new(out) / "alerts.parquet", event_type))
        )
        by_topic = stack.enter_context(journals(settings, event_type))

        def take(alert: SpanAlert) -> None:
            tally.take(alert)
            if table is not None:
                table.take(alert)

        history = history_of(rules, span, engine, by_topic, event_type)
        tried = run_backtest(rules, span, history, by_topic, event_type, settings.clock, take, shards)
        live = None
        if beside is not None:
            alerts = stack.enter_context(CarefulLog(settings.kafka, settings.topic(ALERTS)))
            live = beside, live_alerts(alerts, reader, beside)
        result: dict[str, Any] = {
            "from": span.first,
            "until": span.until,
            "engine": tried.engine,
            "microBatches": tried.batches,
            "transactions": tried.transactions,
            "seconds": round(tried.seconds, 3),
            "rules": tally.to_json(live),
        }
    if out is not None:
        (out / "result.json").write_text(f"{json.dumps(result, indent=2, ensure_ascii=False)}\n", "utf-8")
    click.echo(
        f"engine {tried.engine}: {tried.batches} micro-batches with {tried.transactions} transactions in"
        f" {tried.seconds:.1f} s"
    )
    for row in result["rules"]:
        _print_rule(row)


def live_alerts(alerts: ReadableTopic, reader: AlertReader, rule_id: int) -> Iterator[SpanAlert]:
    """The alerts of the span that a rule gave, whatever its version, as alerts.v1 has them."""
    for partition in alerts.partitions():
        there = alerts.span(partition)
        for run in alerts.records(partition, there.first, there.until) if there.first < there.until else ():
            for record in run:
                alert = reader.read(record.value)
                if alert is not None and alert.alert.get("ruleId") == rule_id:
                    yield alert


def _new(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise BadSettings(f"--out: {folder} can't be made: {error.strerror}") from error
    return folder


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
