"""Reads the span of local time of a filter: `{"zone", "from", "to", "days"}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, cast

from tripline_contracts import spelling
from tripline_contracts.errors import Problem
from tripline_contracts.filters.filter_leaves import WEEK, LocalTimeTest
from tripline_contracts.filters.time_zones import names

_MEMBERS: Final = ("zone", "from", "to", "days")
_EXPECTED: Final = "expected an object with zone, from, to and, for some days only, days"
_CLOCK: Final = re.compile("([01][0-9]|2[0-3]):([0-5][0-9])", re.ASCII)


def read_local_time(data: object, path: str, time_field: str) -> LocalTimeTest | list[Problem]:
    """The test of that field, the event time's; or every problem in it, by path."""
    members, problem = _members(data, path)
    if problem is not None:
        return [problem]
    problems = list(_problems(members, path))
    if problems:
        return problems
    days = {str(day).upper() for day in cast("list[object]", members.get("days", []))}
    return LocalTimeTest(
        time_field,
        str(members["zone"]),
        _minute(members["from"]),
        _minute(members["to"]),
        # every day is what holds without days
        () if len(days) == len(WEEK) else tuple(day for day in WEEK if day in days),
    )


def _members(data: object, path: str) -> tuple[dict[str, object], Problem | None]:
    """The members by their names, keys in any case."""
    if not isinstance(data, Mapping):
        return {}, Problem(path, f"{_EXPECTED}; not {spelling.shown(data)}")
    members: dict[str, object] = {}
    for key, value in list(data.items())[: len(_MEMBERS) + 1]:
        word = key.casefold() if isinstance(key, str) else ""
        if word not in _MEMBERS:
            return {}, Problem(path, f"unknown {spelling.shown(key)}; {_EXPECTED}")
        if word in members:
            return {}, Problem(path, f"{word} is given twice, in different cases; expected once")
        members[word] = value
    missing = [name for name in _MEMBERS[:-1] if name not in members]
    if missing:
        return {}, Problem(path, f"{_EXPECTED}; without {', '.join(missing)}")
    return members, None


def _problems(members: Mapping[str, object], path: str) -> Iterator[Problem]:
    zone = members["zone"]
    if not isinstance(zone, str) or zone not in names():
        expected = "the IANA name of a time zone, such as Europe/Berlin or UTC"
        yield Problem(f"{path}.zone", f"expected {expected}; not {spelling.shown(zone)}")
    for name in ("from", "to"):
        clock = members[name]
        if not isinstance(clock, str) or _CLOCK.fullmatch(clock) is None:
            expected = "a time of day like 22:00, from 00:00 to 23:59 (00:00 ends a day, too)"
            yield Problem(f"{path}.{name}", f"expected {expected}; not {spelling.shown(clock)}")
    days = members.get("days", [WEEK[0]])
    if not isinstance(days, (list, tuple)) or not 1 <= len(days) <= len(WEEK):
        yield Problem(
            f"{path}.days", f"expected a list of 1 to 7 of {', '.join(WEEK)}; not {spelling.shown(days)}"
        )
        return
    for i, day in enumerate(days):
        if not isinstance(day, str) or day.upper() not in WEEK:
            yield Problem(
                f"{path}.days[{i}]", f"expected one of {', '.join(WEEK)}; not {spelling.shown(day)}"
            )


def _minute(clock: object) -> int:
    hours, minutes = str(clock).split(":")
    return 60 * int(hours) + int(minutes)
