"""The command `prove`: its options, what it prints, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import click

from tripline_contracts.cloudevents import rfc3339
from tripline_engine import logs
from tripline_engine.certificate.certificate import Certificate
from tripline_engine.certificate.prove import Asked, prove_span
from tripline_engine.certificate.settings import from_environment
from tripline_engine.certificate.span_options import span_of
from tripline_engine.errors import BadSettings
from tripline_engine.kafka_log.careful_log import CarefulLog
from tripline_engine.rebuild.journals import journals
from tripline_engine.topic_names import ALERTS

MISMATCH: Final = 3
"""Exit status where alerts differ, or a certificate does not hold."""


def prove(
    first: str | None,
    until: str | None,
    engine: str | None,
    shards: int,
    certificate: Path | None,
    check: Path | None,
) -> int:
    """The exit status. Raises EngineError."""
    if check is None:
        made = _made(Asked(span_of(first, until), engine, shards))
        _print_outcome(made)
        if certificate is not None:
            made.write(certificate)
        return 0 if made.matches else MISMATCH
    if first or until or engine or certificate:
        raise BadSettings("--check: the certificate says which span and engine; leave out the other options")
    stored = Certificate.read(check)
    return _compare(stored, _made(Asked(stored.span, stored.only_engine, shards, stored.bounds)))


def _made(asked: Asked) -> Certificate:
    settings = from_environment()
    logs.configure(settings.log_level)
    event_type = settings.event_type
    with (
        journals(settings, event_type) as by_topic,
        CarefulLog(settings.kafka, settings.topic(ALERTS)) as alerts,
    ):
        return prove_span(asked, by_topic, alerts, event_type, settings.clock)


def _print_outcome(made: Certificate) -> None:
    document = made.document
    alerts = document["alerts"]
    click.echo(f"{document['outcome']}: {alerts['count']} alerts of {made.span} are told as they are derived")
    if not made.matches:
        click.echo(
            f"{alerts['notTold']} are derived and not told so, {alerts['notDerived']} told and not derived"
        )
        for one in document["differences"]:
            _print_difference(one)
    for engine in document["engines"]:
        judged = engine["inputs"]["transactions.v1"]["records"]
        click.echo(
            f"engine {engine['engine']}: {engine['microBatches']} micro-batches, {judged} transactions"
        )
    click.echo(f"certificate {made.digest}")


def _print_difference(one: dict[str, Any]) -> None:
    click.echo(
        f"  {one['difference']}: alert {one['alertId']} of rule {one['ruleId']} version {one['ruleVersion']},"
        f" {rfc3339(one['eventTime'])}"
    )
    for member in one["members"]:
        stored, derived = json.dumps(member["stored"]), json.dumps(member["derived"])
        click.echo(f"    {member['member'] or 'alert'}: told {stored}, derived {derived}")


def _compare(stored: Certificate, made: Certificate) -> int:
    differences = stored.differences(made)
    if not differences:
        click.echo(f"the certificate holds: {stored.document['outcome']}, {stored.digest}")
        return 0 if made.matches else MISMATCH
    click.echo(f"the certificate does not hold: {stored.digest}, now {made.digest}")
    for sentence in differences:
        click.echo(f"  {sentence}")
    return MISMATCH
