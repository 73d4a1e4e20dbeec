"""Ways along indexes to the alerts that a filter chooses.

A *walk* follows an index that has the order of lists behind what it begins with: a rule, a field of the group. What
the filter asks for besides is looked at alert by alert. Nobody knows how many have to be looked at until a page is
full, so a walk looks at so many and no more; the next page goes on from there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, Literal, LiteralString

from psycopg.types.json import Jsonb

from alert_api.adapters.alert_lists import alert_conditions
from alert_api.adapters.alert_lists.alert_conditions import IN_GROUP, where
from alert_api.service.alert_queries import AlertFilter

LOOKED: Final = 10_000
"""Alerts that a walk looks at for one page: of the whole list, where neighbours lie side by side."""

LOOKED_APART: Final = 2000
"""Of a rule or a group: each alert is on a page of the disk of its own. Of several rules so many together."""

LEAST_LOOKED: Final = 100
"""Of each rule, where many are walked beside each other."""

MOST_WALKS: Final = 100
"""Rules whose alerts are read each by itself, along the index."""

ORDER: Final[LiteralString] = " ORDER BY a.event_time DESC, a.alert_id"

BY_AMOUNT: Final[LiteralString] = " ORDER BY a.amount"
"""Says which index is meant: without it Postgres would read all alerts of a span, however many, for their amounts."""

_NUMBERS: Final[tuple[LiteralString, ...]] = ("0", "1", "2", "3", "4", "5", "6", "7")

_ALERTS: LiteralString = "SELECT a.* FROM alerts.alerts a"
_KEYS: LiteralString = "SELECT a.event_time, a.alert_id FROM alerts.alerts a"
_SNOOZED_KEYS: LiteralString = "SELECT a.event_time, a.alert_id FROM alerts.snoozed_alerts a"
_OF_KEYS: LiteralString = """SELECT a.* FROM ({keys}) k
       JOIN alerts.alerts a ON a.event_time = k.event_time AND a.alert_id = k.alert_id"""

Kind = Literal["ordered", "of rules", "of amounts", "snoozed", "all", "few", "keys"]

_FOR_EACH: Final[dict[Kind, LiteralString]] = {
    "of rules": "unnest(%(rule_ids)s::bigint[]) AS asked (rule_id)",
    "of amounts": "unnest(%(steps)s::integer[]) AS asked (step)",
}


@dataclass(frozen=True, slots=True)
class Walk:
    """One way: ``start`` is what the index begins with, ``rest`` what is looked at in each alert.

    :ivar kind: in the index's order; so for each rule of the filter, or each step of amounts; through the alerts that
        snoozes cover, which ``start`` is about then; or not in order, and sorted: ``all`` that it begins with, a
        ``few`` that an index leads to, or the ``keys`` in an index that has all that is asked for
    :ivar check: what the index says, but for two values with one hash
    """

    start: tuple[LiteralString, ...] = ()
    rest: tuple[LiteralString, ...] = ()
    kind: Kind = "ordered"
    check: tuple[LiteralString, ...] = ()

    @property
    def can_end_early(self) -> bool:
        """Whether there may be more behind what is looked at."""
        return bool(self.rest) and (self.is_of_each or self.kind in ("ordered", "snoozed"))

    @property
    def is_of_each(self) -> bool:
        """Whether it is several, beside each other."""
        return self.kind in _FOR_EACH

    def query(self, timed: list[LiteralString]) -> LiteralString:
        """The first alerts of it, `rows` at most, with all their columns."""
        start = where([*self.start, *timed])
        rest = [*self.check, *self.rest]
        most: LiteralString = " LIMIT %(looked)s" if rest else " LIMIT %(rows)s"
        read: LiteralString
        if self.kind == "all":
            read = _ALERTS + start + " OFFSET 0"
        elif self.kind == "few":
            read = _OF_KEYS.replace("{keys}", _KEYS + start + BY_AMOUNT + " LIMIT %(looked)s")
        elif self.kind == "keys":
            keys: LiteralString = (
                f"SELECT a.* FROM ({_KEYS}{start}{BY_AMOUNT} OFFSET 0) a{ORDER} LIMIT %(rows)s"  # noqa: S608
            )
            read = _OF_KEYS.replace("{keys}", keys)
        elif self.kind == "snoozed":
            read = _OF_KEYS.replace("{keys}", _SNOOZED_KEYS + start + ORDER + most) + ORDER
        else:
            read = _ALERTS + start + ORDER + most
        if rest or self.kind in ("all", "few", "keys"):
            read = f"SELECT a.* FROM ({read}) a{where(rest)}{ORDER} LIMIT %(rows)s"  # noqa: S608 - constants
        return self._for_each(read)

    def some_query(self, timed: list[LiteralString]) -> LiteralString:
        """A row for each alert that it begins with, `most` of them at most. Of amounts those of all times: so many
        entries of the index are read and no more, however few are of the span."""
        if self.kind in ("few", "keys"):
            return f"SELECT 1 FROM ({_KEYS}{where([*self.start])}{BY_AMOUNT} LIMIT %(most)s) w"  # noqa: S608
        # The order says which index is meant, and reads no more.
        order: LiteralString = "" if self.kind == "all" else ORDER
        return self._for_each(f"SELECT 1 FROM ({self._keys(timed)}{order} LIMIT %(most)s) w")  # noqa: S608

    def end_query(self, timed: list[LiteralString]) -> LiteralString:
        """The last alert that is looked at, of each rule or step; none where the walk comes to its end before."""
        return self._for_each(self._keys(timed) + ORDER + " LIMIT 1 OFFSET %(looked)s")

    def _keys(self, timed: list[LiteralString]) -> LiteralString:
        return (_SNOOZED_KEYS if self.kind == "snoozed" else _KEYS) + where([*self.start, *timed])

    def _for_each(self, read: LiteralString) -> LiteralString:
        if self.kind not in _FOR_EACH:
            return read
        return f"SELECT w.* FROM {_FOR_EACH[self.kind]}, LATERAL ({read}) w"  # noqa: S608 - constants


@dataclass(frozen=True, slots=True)
class Start:
    """A way to begin: walks that together lead to all alerts that fulfil ``says``.

    :ivar is_apart: whether these lie far from each other
    """

    walks: tuple[Walk, ...]
    says: tuple[LiteralString, ...] = ()
    values: tuple[tuple[str, Any], ...] = ()
    is_apart: bool = True

    def with_rest(self, conditions: list[LiteralString]) -> tuple[Walk, ...]:
        """The walks, with what of the conditions they do not begin with."""
        rest = tuple(condition for condition in conditions if condition not in self.says)
        return tuple(replace(walk, rest=walk.rest + rest) for walk in self.walks)


def starts(alert_filter: AlertFilter) -> list[Start]:
    """Where one can begin, what mostly leads to the fewest first."""
    ways = []
    if alert_filter.transaction_id is not None:
        condition = alert_conditions.OF_TRANSACTION
        ways.append(Start((Walk((condition,)),), (condition,)))
    if alert_filter.snooze_id is not None:
        of_snooze = Walk(("snooze_id = %(snooze_id)s",), kind="snoozed")
        ways.append(Start((of_snooze,), (alert_conditions.OF_SNOOZE, alert_conditions.SNOOZED)))
    for number, (name, value) in zip(_NUMBERS, alert_filter.group, strict=False):
        ways.append(_of_field(number, name, value, alone=len(alert_filter.group) == 1))
    if alert_filter.voided:
        ways.append(Start((Walk(("voided",)),), ("voided",)))
    if alert_filter.snoozed:
        ways.append(Start((Walk(kind="snoozed"),), (alert_conditions.SNOOZED,)))
    if len(alert_filter.rule_ids) == 1:
        ways.append(Start((Walk((alert_conditions.OF_RULE,)),), (alert_conditions.OF_RULE,)))
    elif 1 < len(alert_filter.rule_ids) <= MOST_WALKS:
        # Of several rules the index has no common order: the newest of each are taken, and of these the newest.
        of_each = Walk(("rule_id = asked.rule_id",), kind="of rules")
        ways.append(Start((of_each,), (alert_conditions.OF_RULES,)))
    return ways or [whole_list(alert_filter)]


def whole_list(alert_filter: AlertFilter) -> Start:
    """All alerts, or all open ones."""
    if alert_filter.state != "open":
        return Start((Walk(),), is_apart=False)
    is_open = alert_conditions.STATES["open"]
    return Start((Walk((is_open,)),), (is_open,), is_apart=False)


def _of_field(number: LiteralString, name: str, value: str, *, alone: bool) -> Start:
    asked: LiteralString = "jsonb_hash_extended(%(field_" + number + ")s::jsonb, 0)"
    fields: list[LiteralString] = ["alerts.group_field(group_values, " + n + ")" for n in _NUMBERS[:4]]
    walks = [
        Walk((field + " = " + asked,), () if alone else (IN_GROUP,), check=(IN_GROUP,) if alone else ())
        for field in fields[:3]
    ]
    others = (field + " <> " + asked for field in fields[:3])
    further = Walk((fields[3] + " IS NOT NULL", *others, IN_GROUP), kind="all")
    return Start((*walks, further), (IN_GROUP,), ((f"field_{number}", Jsonb({"key": name, "value": value})),))


def by_detection(
    walks: tuple[Walk, ...], conditions: list[LiteralString], alert_filter: AlertFilter
) -> tuple[Walk, ...]:
    """The same alerts where the filter bounds detection. Mostly that bounds event time too, up to an hour; what was
    detected before its event time, or later than that, has indexes of its own."""
    if any(walk.kind == "snoozed" for walk in walks):
        return walks
    apart: list[Walk] = []
    if alert_filter.detected_to is not None:
        bounded: tuple[LiteralString, LiteralString] = (
            "event_time <= %(detected_to)s",
            "event_time <= detected_at",
        )
        walks = tuple(_within(walk, *bounded) for walk in walks)
        apart.append(Walk(("event_time > detected_at",), tuple(conditions)))
    if alert_filter.detected_from is not None:
        bounded = ("event_time >= %(detected_from)s::bigint - 3600000", "detected_at - event_time <= 3600000")
        walks = tuple(_within(walk, *bounded) for walk in walks)
        apart.append(Walk(("detected_at - event_time > 3600000",), tuple(conditions)))
    return (*walks, *apart)


def _within(walk: Walk, start: LiteralString, rest: LiteralString) -> Walk:
    return replace(walk, start=(*walk.start, start), rest=(*walk.rest, rest))
