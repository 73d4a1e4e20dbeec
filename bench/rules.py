"""The five rules, their versions, and the events that say so on rules.v1."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final

import numpy as np
import numpy.typing as npt

from bench.windows import Held, group_codes, held
from bench.workload import HUGE_CENTS, Column, Workload
from tripline_contracts import decimals
from tripline_contracts.rule_definition import Function, RuleDefinition
from tripline_contracts.widest import widest_windows

UNREACHABLE: Final = Decimal(10) ** 15
_CENTS: Final = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Subject:
    """What a rule watches; the limit comes with its versions."""

    rule_id: int
    name: str
    function: Function
    grouping: tuple[str, ...]
    window_seconds: int

    def definition(self, limit: Decimal) -> RuleDefinition:
        """With that limit, tripping above it."""
        measured = None if self.function == "COUNT" else "paymentAmount"
        return RuleDefinition(self.grouping, self.function, measured, ">", limit, self.window_seconds)

    def held(self, load: Workload, time: Column, rank: Column, asked: Column) -> Held:
        """What its windows held at the transactions `asked` for."""
        columns = {
            "payeeId": load.payee,
            "beneficiaryId": load.beneficiary,
            "paymentType": load.payment_type,
        }
        code = group_codes(*(columns[name] for name in self.grouping))
        window_ms = self.window_seconds * 1_000
        return held(code, time, rank, load.cents, asked, window_ms, with_largest=self.function == "MAX")

    def over(self, windows: Held, limit: Decimal) -> npt.NDArray[np.bool_]:
        """Where the rule holds, compared without dividing."""
        whole = int(limit if self.function == "COUNT" else limit / _CENTS)
        match self.function:
            case "COUNT":
                return windows.count > whole
            case "AVG":
                return windows.total > whole * windows.count
            case "MAX":
                return windows.largest > whole
            case _:
                return windows.total > whole

    def value(self, windows: Held, at: int) -> str:
        """The value as an alert tells it."""
        total, count = int(windows.total[at]), int(windows.count[at])
        match self.function:
            case "COUNT":
                return str(count)
            case "AVG":
                mean = Decimal(total) * _CENTS / count
                return decimals.plain(mean.quantize(Decimal("0.000001"), ROUND_HALF_EVEN))
            case "MAX":
                return decimals.plain(int(windows.largest[at]) * _CENTS)
            case _:
                return decimals.plain(total * _CENTS)


FIVE: Final = (
    Subject(1, "SUM by payee and beneficiary, 20 minutes", "SUM", ("beneficiaryId", "payeeId"), 1_200),
    Subject(2, "COUNT by payee, 10 minutes", "COUNT", ("payeeId",), 600),
    Subject(3, "AVG by beneficiary, 5 minutes", "AVG", ("beneficiaryId",), 300),
    Subject(4, "MAX by payee, 60 minutes", "MAX", ("payeeId",), 3_600),
    Subject(5, "SUM by payment type, 30 minutes", "SUM", ("paymentType",), 1_800),
)


@dataclass(frozen=True, slots=True)
class Version:
    """One definition of one rule, as published; `position` counts from 1, its offset in rules.v1 from 0."""

    subject: Subject
    version: int
    position: int
    limit: Decimal
    effective_from: int


@dataclass
class RuleLog:
    """Everything published so far."""

    versions: list[Version] = field(default_factory=list)

    def publish(self, subject: Subject, limit: Decimal, effective_from: int) -> Version:
        """The next version of that rule."""
        number = 1 + sum(known.subject is subject for known in self.versions)
        version = Version(subject, number, len(self.versions) + 1, limit, effective_from)
        self.versions.append(version)
        return version

    def of(self, subject: Subject) -> list[Version]:
        """The rule's versions in order."""
        return [version for version in self.versions if version.subject is subject]

    def event(self, version: Version, now: int) -> bytes:
        """The event as the registry would write it, right after `publish`."""
        current = {known.subject.rule_id: known for known in self.versions}
        definitions = [
            (v.subject.rule_id, v.version, v.subject.definition(v.limit)) for v in current.values()
        ]
        definition = version.subject.definition(version.limit)
        return json.dumps(
            {
                "eventId": str(uuid.uuid4()),
                "type": "RulePublished",
                "position": version.position,
                "occurredAt": now,
                "actor": "bench",
                "widestWindows": widest_windows(definitions),
                "ruleId": version.subject.rule_id,
                "version": version.version,
                "definitionVersion": version.version,
                "state": "ACTIVE",
                "name": version.subject.name,
                "definition": definition.to_json(),
                "definitionHash": definition.hash,
                "effectiveFrom": version.effective_from,
            }
        ).encode()


def limits(load: Workload, alerts_per_rule: int) -> dict[int, Decimal]:
    """Limits under which each of the first four rules alerts about so often over the live payments, by rule id.

    The fifth is above what its sums come to without the huge payments, by half of one.
    """
    number = np.arange(len(load))
    time = number * 1_000 // load.rate
    live = number[load.preloaded :]
    found = {}
    for subject in FIVE:
        windows = subject.held(load, time, number, live)
        found[subject.rule_id] = _limit(subject, windows, alerts_per_rule)
    return found


def _limit(subject: Subject, windows: Held, alerts: int) -> Decimal:
    share = 1 - alerts / windows.count.size
    match subject.function:
        case "COUNT":
            return Decimal(int(np.quantile(windows.count, share)))
        case "AVG":
            return int(np.quantile(windows.total // windows.count, share)) * _CENTS
        case "MAX":
            return int(np.quantile(windows.largest, share)) * _CENTS
        case _ if subject.grouping == ("paymentType",):
            return (int(np.quantile(windows.total, 0.98)) + HUGE_CENTS // 2) * _CENTS
        case _:
            return int(np.quantile(windows.total, share)) * _CENTS


def in_force(versions: Sequence[Version], time: Column, batch: Column, taken_in: Column) -> Column:
    """Index of the version in force for each transaction, -1 for none.

    `time`: event time in ms, `batch`: its micro-batch, `taken_in[position - 1]`: that of the rule event.
    """
    found = np.full(time.size, -1)
    for index, version in enumerate(versions):
        found[(time >= version.effective_from) & (batch >= taken_in[version.position - 1])] = index
    return found
