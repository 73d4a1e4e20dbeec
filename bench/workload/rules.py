"""The five rules, their versions, and limits under which they alert about as often as one another."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from bench.independent.windows import Held, different, group_codes, held
from bench.workload.workload import HUGE_CENTS, STRANGERS, Column, Workload
from tripline_contracts import decimals
from tripline_contracts.rules.aggregate import SINCE
from tripline_contracts.rules.rule_definition import Function

UNREACHABLE: Final = Decimal(10) ** 15
_CENTS: Final = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Passing:
    """A filter: one comparison."""

    field: str
    operator: Literal["=", "!=", ">="]
    constant: str

    def body(self) -> dict[str, object]:
        """As the registry takes it."""
        return {"field": self.field, "operator": self.operator, "value": self.constant}

    def passes(self, load: Workload) -> npt.NDArray[np.bool_]:
        """Which transactions pass it; only amounts are compared by >=."""
        if self.operator == ">=":
            enough: npt.NDArray[np.bool_] = load.cents >= int(Decimal(self.constant) / _CENTS)
            return enough
        equal = load.where(self.field, self.constant)
        return equal if self.operator == "=" else ~equal


@dataclass(frozen=True, slots=True)
class Subject:
    """What a rule watches; the limit comes with its versions.

    :ivar counted: the field of a COUNT_DISTINCT, or of a CHANGED
    :ivar bucket_seconds: the length of its buckets, None for a rule that is exact
    """

    rule_id: int
    name: str
    function: Function
    grouping: tuple[str, ...]
    window_seconds: int
    passing: Passing | None = None
    counted: str = "beneficiaryId"
    bucket_seconds: int | None = None

    def body(self, limit: Decimal, effective_from: int) -> dict[str, object]:
        """What the registry is sent: tripping above that limit."""
        fields = {"COUNT": None, "COUNT_DISTINCT": self.counted, "CHANGED": self.counted}
        fields |= dict.fromkeys(SINCE)
        definition: dict[str, object] = {
            "name": self.name,
            "groupingKeyNames": list(self.grouping),
            "aggregatorFunctionType": self.function,
            "aggregateFieldName": fields.get(self.function, "paymentAmount"),
            "limitOperatorType": ">",
            "limit": decimals.plain(limit),
            "windowSeconds": self.window_seconds,
            "effectiveFrom": effective_from,
        }
        if self.bucket_seconds is not None:
            definition["precision"] = f"bucketed({self.bucket_seconds})"
        return definition if self.passing is None else {**definition, "filter": self.passing.body()}

    def held(self, load: Workload, time: Column, rank: Column, asked: Column) -> Held:
        """What its windows held at the transactions `asked` for; nothing at those that don't pass the filter."""
        if self.passing is None:
            return self._held(load, time, rank, asked)
        chosen = np.flatnonzero(self.passing.passes(load))
        positions = np.full(len(load), -1)
        positions[chosen] = np.arange(chosen.size)
        inside = positions[asked] >= 0
        # of ranks only the order counts
        windows = self._held(load.taken(chosen), time[chosen], rank[chosen], positions[asked[inside]])
        return windows.spread(inside)

    def _held(self, load: Workload, time: Column, rank: Column, asked: Column) -> Held:
        code = group_codes(*(load.key(name) for name in self.grouping), of=len(load))
        window_ms = self.window_seconds * 1_000
        if self.function == "COUNT_DISTINCT":
            return different(code, time, rank, load.key(self.counted), asked, window_ms)
        # the least is the greatest of the negatives
        sign = -1 if self.function == "MIN" else 1
        extreme = self.function in ("MIN", "MAX")
        bucket_ms = (self.bucket_seconds or 0) * 1_000
        windows = held(
            code, time, rank, sign * load.cents, asked, window_ms, with_largest=extreme, bucket_ms=bucket_ms
        )
        return Held(sign * windows.total, windows.count, sign * windows.largest)

    def over(self, windows: Held, limit: Decimal) -> npt.NDArray[np.bool_]:
        """Where the rule holds, compared without dividing. A limit is not negative: no window that is empty holds."""
        whole = int(limit if self.function in ("COUNT", "COUNT_DISTINCT") else limit / _CENTS)
        match self.function:
            case "COUNT":
                return windows.count > whole
            case "AVG":
                return windows.total > whole * windows.count
            case "MAX" | "MIN":
                return windows.largest > whole
            case _:
                return windows.total > whole

    def value(self, windows: Held, row: int) -> str:
        """The value as an alert tells it."""
        total, count = int(windows.total[row]), int(windows.count[row])
        match self.function:
            case "COUNT":
                return str(count)
            case "COUNT_DISTINCT" | "CHANGED":
                return str(total)
            case "SECONDS_SINCE_PREVIOUS" | "SECONDS_SINCE_FIRST":
                return decimals.plain(Decimal(total) / 1_000)
            case "STDDEV":
                return decimals.plain(Decimal(total).scaleb(-6))
            case "AVG":
                mean = Decimal(total) * _CENTS / count
                return decimals.plain(mean.quantize(Decimal("0.000001"), ROUND_HALF_EVEN))
            case "MAX" | "MIN":
                return decimals.plain(int(windows.largest[row]) * _CENTS)
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
    """One definition of one rule; `offset` is where its event lies in rules.v1."""

    subject: Subject
    version: int
    offset: int
    limit: Decimal
    effective_from: int


def versions_of(events: Iterable[tuple[int, bytes]]) -> list[Version]:
    """What rules.v1 says, from its offsets and values. The relay may have delivered an event twice."""
    versions: list[Version] = []
    position = 0
    for offset, value in events:
        event = json.loads(value)
        if event["position"] <= position:
            continue
        position = event["position"]
        assert event["type"] == "RulePublished", f"nobody publishes a {event['type']} here"
        limit = Decimal(event["definition"]["limit"])
        subject = FIVE[event["ruleId"] - 1]
        versions.append(Version(subject, event["version"], offset, limit, event["effectiveFrom"]))
    return versions


def limits(
    load: Workload, alerts_per_rule: int, subjects: Sequence[Subject] = FIVE, time: Column | None = None
) -> dict[int, Decimal]:
    """Limits under which each of the rules alerts about so often over the live payments, by rule id.

    That of a sum by payment type is above what its sums come to without the huge payments, by half of one, if there are
    any. `time`: when they happen, ms; else one after the other at the workload's rate.
    """
    number = np.arange(len(load))
    time = number * 1_000 // load.rate if time is None else time
    live = number[load.preloaded :]
    huge = bool((load.payee[live] >= STRANGERS).any())
    limits_of = {}
    for subject in subjects:
        windows = _of_others(subject.held(load, time, number, live), load, live)
        limits_of[subject.rule_id] = _limit(subject, windows, alerts_per_rule, huge=huge)
    return limits_of


def _of_others(windows: Held, load: Workload, asked: Column) -> Held:
    """Without those of the huge payments."""
    others = load.payee[asked] < STRANGERS
    return Held(windows.total[others], windows.count[others], windows.largest[others])


def _limit(subject: Subject, windows: Held, alerts: int, *, huge: bool) -> Decimal:
    share = 1 - alerts / windows.count.size
    match subject.function:
        case "COUNT":
            return Decimal(int(np.quantile(windows.count, share)))
        case "AVG":
            return int(np.quantile(windows.total // np.maximum(windows.count, 1), share)) * _CENTS
        case "COUNT_DISTINCT":
            return Decimal(int(np.quantile(windows.total, share)))
        case "MAX" | "MIN":
            return int(np.quantile(windows.largest, share)) * _CENTS
        case _ if huge and subject.grouping == ("paymentType",):
            return (int(np.quantile(windows.total, 0.98)) + HUGE_CENTS // 2) * _CENTS
        case _:
            return int(np.quantile(windows.total, share)) * _CENTS


def in_force(versions: Sequence[Version], time: Column, batch: Column, taken_in: Column) -> Column:
    """Index of the version in force for each transaction, -1 for none.

    `versions`: of one rule, in order; `time`: event time in ms, `batch`: its micro-batch, `taken_in[offset]`: that of
    the rule event.
    """
    newest = np.full(time.size, -1)
    for index, version in enumerate(versions):
        newest[(time >= version.effective_from) & (batch >= taken_in[version.offset])] = index
    return newest
