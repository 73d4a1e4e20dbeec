"""Verifying the audit trail: chain, log, rules, the topic rules.v1 and what engines have applied, each by the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from rules_registry.domain.audit.audit_entry import AuditEntry, ChainHead
from rules_registry.domain.audit.chain_check import ChainCheck
from rules_registry.domain.audit.trail_comparison import Json, StandingRule, TrailComparison
from rules_registry.domain.reports.log_comparison import of_newest_engine, position_of
from rules_registry.domain.reports.position_report import PositionReport
from rules_registry.errors import InvalidExport
from tripline_contracts import exact_json
from tripline_contracts.canonical import canonical_json
from tripline_contracts.errors import InvalidJson, NotCanonical

Place = Literal["ok", "behind", "differs", "not asked"]


class TrailPort(Protocol):
    """The registry's database as the verification reads it, at one moment."""

    def entries(self) -> Iterator[AuditEntry]: ...
    def events(self) -> Iterator[Json]: ...
    def rules(self) -> Iterator[StandingRule]: ...
    def reported_positions(self) -> Sequence[PositionReport]: ...


class TopicPort(Protocol):
    """rules.v1 from its beginning."""

    def new_records(self) -> Iterable[tuple[int, bytes]]: ...


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule, and whether topic and engine hold its last event."""

    rule: StandingRule
    topic: Place
    engine: Place


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found: sentences for whatever does not hold, and each rule."""

    head: ChainHead
    events: int
    problems: tuple[str, ...]
    rules: tuple[RuleLine, ...]


def verify(trail: TrailPort, topic: TopicPort | None, kept: ChainHead | None = None) -> Verification:
    """Compares all of them; `kept` is a head that was noted earlier, `topic` None where Kafka is not asked."""
    # whatever is in the topic was in the log before: so the topic is read first
    records = None if topic is None else list(topic.new_records())
    comparison = TrailComparison()
    watched = _Watched(kept)
    problems = list(comparison.problems(watched.following(trail.entries()), trail.events()))
    problems += watched.problems(comparison.head)
    problems += comparison.projected(trail.rules())
    arrived: set[int] = set()
    for offset, value in records or ():
        position = position_of(value)
        if comparison.digests.holds(position, value):
            arrived.add(position)
        else:
            problems.append(f"the record at offset {offset} of rules.v1 is not in the log")
    reports = of_newest_engine(trail.reported_positions())
    differing = [text for report in reports for text in comparison.digests.differences(report)]
    applied = min((report.position for report in reports), default=None)

    def line(rule: StandingRule) -> RuleLine:
        in_topic: Place = "not asked" if records is None else "ok" if rule.position in arrived else "behind"
        in_engine: Place = (
            "not asked" if applied is None
            else "differs" if differing
            else "ok" if rule.position <= applied
            else "behind"
        )  # fmt: skip
        return RuleLine(rule, in_topic, in_engine)

    rules = tuple(line(rule) for _, rule in sorted(comparison.rules.items()))
    return Verification(comparison.head, comparison.digests.position, (*problems, *differing), rules)


def verify_export(lines: Iterable[str], kept: ChainHead | None = None) -> Verification:
    """The chain of an export, without anything else at hand. Raises `InvalidExport` with the line."""
    check, watched = ChainCheck(), _Watched(kept)
    problems = list(check.problems(watched.following(_read(lines))))
    problems += watched.problems(check.head)
    return Verification(check.head, 0, tuple(problems), ())


class _Watched:
    """Looks out for an entry that was noted earlier."""

    def __init__(self, kept: ChainHead | None) -> None:
        self._kept, self._seen = kept, False

    def following(self, entries: Iterable[AuditEntry]) -> Iterator[AuditEntry]:
        for entry in entries:
            self._seen |= self._kept == ChainHead(entry.sequence, entry.hash)
            yield entry

    def problems(self, head: ChainHead) -> Iterator[str]:
        if self._kept is not None and not self._seen:
            number = self._kept.sequence
            what = "has another hash than was kept" if number <= head.sequence else "is not there any more"
            yield f"entry {number} {what}"


def _read(lines: Iterable[str]) -> Iterator[AuditEntry]:
    for number, line in enumerate(lines, start=1):
        try:
            data = exact_json.loads(line.encode())
            entry = data["entry"]  # type: ignore[index]  # what is no object raises TypeError
            yield AuditEntry(entry["sequence"], canonical_json(entry).decode(), data["hash"])  # type: ignore[index]
        except (InvalidJson, NotCanonical, TypeError, LookupError, UnicodeEncodeError) as error:
            raise InvalidExport(f"Line {number} is no line of an export: {error}.") from error
