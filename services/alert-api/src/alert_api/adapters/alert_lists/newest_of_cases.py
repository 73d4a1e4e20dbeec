"""The newest alerts of the cases that fit, however many these are.

Each case has an alert at its end. So the page's alerts are those of as many cases as it has rows, of which none ends
before another one that fits; and of all that fit what goes on behind the place where the page begins.

    time ────────────────────────────▶ page begins
      c3 ├───────────●          .         |
      c2      ├──────────────●  .         |     c1 and c2 lead to all that is newer than the end of c3
      c1           ├────────────.──●      |

A case says what it is about, a value or a rule's group, and the indexes of groups lead to the alerts about that. Which
case an alert is in is asked afterwards: another one may have been about the same before.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, LiteralString, NamedTuple

import psycopg
from psycopg.types.json import Jsonb

from alert_api.adapters.alert_lists.alert_walking import along_indexes, numbered
from alert_api.adapters.cases.case_conditions import case_conditions
from alert_api.adapters.cases.cases_of_alerts import Listed, of_these_cases
from alert_api.adapters.cases.plain_arrays import plain_array
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.events import AlertId
from alert_api.service.alert_queries import AlertFilter, Place
from alert_api.service.cases.case_queries import CaseFilter

MOST_GOING_ON: Final = 200
"""Cases that go on behind the page's beginning; where more do, alerts are walked through."""

FIRST_LOOK: Final = 16
"""Alerts of one case that are read first: a page is seldom of one burst."""

SPARE: Final = 10
"""One case in so many more than a page has rows: so many may end with an alert that is in none."""

ROUNDS: Final = 4
LAST_TIME: Final = 2**63 - 1
LAST_ID: Final = AlertId("ffffffff-ffff-ffff-ffff-ffffffffffff")

SELECT_CASES: LiteralString = "SELECT c.case_id, c.first, c.last, c.subject FROM alerts.cases c"
CHOOSE_CASES: LiteralString = """
 AND c.first <= %(until)s AND c.last >= %(since)s ORDER BY c.last DESC, c.case_id DESC LIMIT %(cases)s"""
# All that ever held: a case is about what the policy said when it was opened.
SELECT_POLICIES = "SELECT policy FROM alerts.case_events WHERE case_id IS NULL AND type = 'CasePolicySet'"

_LISTED: LiteralString = "a.alert_id, a.event_time, a.rule_id, a.group_values"
_ORDER: LiteralString = " ORDER BY event_time DESC, alert_id LIMIT %(most)s"
_WITHIN: LiteralString = "a.event_time BETWEEN asked.begins AND asked.ends{behind}"
_BEHIND: LiteralString = " AND (a.event_time < %(after_time)s OR a.alert_id > %(after_id)s::uuid)"
_OF_FIELD: LiteralString = f"""
       (SELECT {_LISTED} FROM alerts.alerts a
         WHERE alerts.group_field(group_values, {{number}}) = asked.hash
           AND group_values @> asked.pair AND {_WITHIN}{_ORDER})"""  # noqa: S608 - constants
# What a group has besides its first three fields has an index without an order.
_OF_MORE_FIELDS: LiteralString = f"""
       (SELECT {_LISTED} FROM alerts.alerts a
         WHERE alerts.group_field(group_values, 3) IS NOT NULL AND group_values @> asked.pair
           AND alerts.group_field(group_values, 0) <> asked.hash AND alerts.group_field(group_values, 1) <> asked.hash
           AND alerts.group_field(group_values, 2) <> asked.hash AND {_WITHIN} OFFSET 0)"""  # noqa: S608 - constants
_BRANCHES: LiteralString = " UNION ALL ".join(
    (*(_OF_FIELD.replace("{number}", number) for number in ("0", "1", "2")), _OF_MORE_FIELDS)
)
OF_VALUES: LiteralString = f"""
SELECT asked.number, x.alert_id::text, x.event_time, x.rule_id, x.group_values
  FROM (SELECT number, begins, ends, jsonb_build_object(name, value) AS pair,
               jsonb_hash_extended(jsonb_build_object('key', name, 'value', value), 0) AS hash
          FROM unnest(%(numbers)s::bigint[], %(names)s::text[], %(values)s::text[], %(begins)s::bigint[],
                      %(ends)s::bigint[]) AS given (number, name, value, begins, ends)) asked, LATERAL (
       SELECT * FROM ({_BRANCHES}) b{_ORDER}) x"""  # noqa: S608 - constants
OF_SERIES: LiteralString = f"""
SELECT asked.number, x.alert_id::text, x.event_time, x.rule_id, x.group_values
  FROM unnest(%(numbers)s::bigint[], %(rules)s::bigint[], %(groups)s::jsonb[], %(begins)s::bigint[],
              %(ends)s::bigint[]) AS asked (number, rule_id, group_values, begins, ends), LATERAL (
       SELECT {_LISTED} FROM alerts.alerts a
        WHERE a.rule_id = asked.rule_id
          AND jsonb_hash_extended(a.group_values, 0) = jsonb_hash_extended(asked.group_values, 0)
          AND a.group_values = asked.group_values AND {_WITHIN}{_ORDER}) x"""  # noqa: S608 - constants

Columns = Mapping[str, Sequence[Any] | str]
Connection = psycopg.Connection[Any]


class Span(NamedTuple):
    """Of a case the part that is looked at, both ends included, and what it is about."""

    case_id: int
    begins: int
    ends: int
    subject: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Look:
    """What a round looks at. ``edge``: of what is not newer than this there may be more; None: there is no more."""

    spans: Sequence[Span]
    edge: int | None


@dataclass(frozen=True, slots=True)
class Chosen:
    """The filter of cases as SQL, and the span of event time that is asked for."""

    where: LiteralString
    values: Mapping[str, Any]
    earliest: int
    latest: int

    def until(self, following: Place | None) -> int:
        if following is None:
            return self.latest
        # Behind the last id there is nothing of that instant.
        return min(self.latest, following.event_time - (following.alert_id == LAST_ID))


def newest_of_cases(
    connection: Connection, alert_filter: AlertFilter, after: Place | None, limit: int
) -> tuple[list[Listed], Place | None] | None:
    """The next ``limit`` alerts after ``after`` whose cases fit, fewer where they have been looked for long enough,
    and the place behind which there may be more. None where too many cases go on. The filter says nothing of the
    alerts themselves but when they happened.
    """
    where, values = case_conditions(
        CaseFilter(alert_filter.case_state, alert_filter.outcome, alert_filter.assignee)
    )
    latest = LAST_TIME if alert_filter.latest is None else alert_filter.latest
    chosen = Chosen(where, values, alert_filter.earliest or 0, latest)
    kept: list[Listed] = []
    following = after
    for number in range(ROUNDS):
        look = _look(connection, chosen, following, limit)
        if look is None:
            return (kept, following) if kept else None
        most = min(FIRST_LOOK, limit + 1) if number == 0 else limit + 1
        listed, following = _newest(connection, look, following, most, 2 * limit + 2)
        kept += of_these_cases(connection, listed, {span.case_id for span in look.spans}.intersection)
        if len(kept) > limit:
            return kept[:limit], Place(kept[limit - 1].event_time, kept[limit - 1].alert_id)
        if following is None:
            break
    return kept, following


def _look(connection: Connection, chosen: Chosen, following: Place | None, limit: int) -> Look | None:
    """None where too many cases go on, or so many end at one instant that they lead nowhere."""
    until = chosen.until(following)
    going_on = 0 if until == LAST_TIME else MOST_GOING_ON
    # One alert more than the page has says that there is a next one, and the alert at a case's end may be snoozed.
    enough = limit + 1 + limit // SPARE
    values = {**chosen.values, "until": until, "since": chosen.earliest, "cases": going_on + enough + 2}
    rows = connection.execute(SELECT_CASES + chosen.where + CHOOSE_CASES, values).fetchall()
    over = [row for row in rows if row[2] > until]
    ended = [row for row in rows if row[2] <= until]
    if len(over) > MOST_GOING_ON:
        return None
    edge = ended[enough][2] if len(ended) > enough + 1 else None
    if edge == until:
        return None
    begin = chosen.earliest if edge is None else max(chosen.earliest, edge + 1)
    spans = [
        Span(case_id, max(first, begin), min(last, until), json.loads(subject))
        for case_id, first, last, subject in (*over, *ended[: enough + 1])
        if max(first, begin) <= min(last, until)
    ]
    return Look(spans, edge)


def _newest(
    connection: Connection, look: Look, following: Place | None, most: int, rows: int
) -> tuple[list[Listed], Place | None]:
    """The alerts about what these cases are about, so many of each and ``rows`` in all, and where to go on."""
    read = _read(connection, look.spans, following, most)
    ends: dict[int, list[Listed]] = {}
    for number, alert in read:
        ends.setdefault(number, []).append(alert)
    # Behind the last one of those that may have more nobody knows what comes.
    bounds = [max(map(_key, alerts)) for alerts in ends.values() if len(alerts) >= most]
    bound = min(bounds, default=None)
    once = sorted({alert.alert_id: alert for _, alert in read}.values(), key=_key)
    listed = [alert for alert in once if bound is None or _key(alert) <= bound]
    if len(listed) > rows:
        return listed[:rows], Place(listed[rows - 1].event_time, listed[rows - 1].alert_id)
    if bound is not None:
        return listed, Place(-bound[0], bound[1])
    return listed, None if look.edge is None else Place(look.edge + 1, LAST_ID)


def _key(alert: Listed) -> tuple[int, AlertId]:
    return -alert.event_time, alert.alert_id


def _read(
    connection: Connection, spans: Sequence[Span], following: Place | None, most: int
) -> list[tuple[int, Listed]]:
    """Each with the number of what it was asked for by."""
    of_values = [span for span in spans if "field" in span.subject]
    of_series = [span for span in spans if "field" not in span.subject]
    rows: list[tuple[int, Listed]] = []
    with along_indexes(connection):
        if of_values:
            rows += _rows(connection, OF_VALUES, _by_value(of_values, _policies(connection)), following, most)
        if of_series:
            rows += _rows(connection, OF_SERIES, _by_series(of_series), following, most)
    return rows


def _by_value(spans: Iterable[Span], policies: Sequence[CasePolicy]) -> Columns:
    """Of a subject each member of a group that says its value."""
    asked = [(span, name) for span in spans for name in _names(span.subject["field"], policies)]
    return {
        **_times([span for span, _ in asked]),
        "names": [member for _, member in asked],
        "values": [span.subject["value"] for span, _ in asked],
    }


def _names(field: str, policies: Sequence[CasePolicy]) -> Iterable[str]:
    return dict.fromkeys((field, *(name for policy in policies for name in policy.fields_of(field))))


def _by_series(spans: Sequence[Span]) -> Columns:
    rules, groups = ([span.subject[name] for span in spans] for name in ("ruleId", "group"))
    # Numbers of their own, beside those of values.
    return {**_times(spans, -len(spans)), "rules": rules, "groups": [Jsonb(group) for group in groups]}


def _times(spans: Sequence[Span], first: int = 0) -> Columns:
    return {
        "numbers": plain_array(range(first, first + len(spans))),
        "begins": plain_array(span.begins for span in spans),
        "ends": plain_array(span.ends for span in spans),
    }


def _policies(connection: Connection) -> list[CasePolicy]:
    return [CasePolicy.from_json(policy) for (policy,) in connection.execute(SELECT_POLICIES).fetchall()]


def _rows(
    connection: Connection, query: LiteralString, asked: Columns, following: Place | None, most: int
) -> list[tuple[int, Listed]]:
    values: dict[str, Any] = dict(asked)
    if following is not None:
        values |= {"after_time": following.event_time, "after_id": following.alert_id}
    whole = numbered(query.replace("{behind}", _BEHIND if following is not None else ""), most=most)
    rows = connection.execute(whole, values, prepare=True).fetchall()
    return [(number, Listed(*alert)) for number, *alert in rows]
