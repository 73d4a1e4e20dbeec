"""Commands that trace rules, put into a history that is finished: nothing else in it is changed.

They are drawn by a random source of their own and stand between the rule events that are there, whose positions
are then numbered anew in the same order. So a history has the same alerts with them as without.
"""

from __future__ import annotations

import json
import uuid
from bisect import bisect_left
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.oracle.builders.registry import Registry
from tests.oracle.generators.profile import Profile
from tests.oracle.malformed.rule_events import FAR_AHEAD
from tests.oracle.parsers.rule_events import Content, read_events
from tests.oracle.values.model import MicroBatch
from tests.oracle.values.schema import LAST_TIME

# The position it had before, and the index among the commands put right behind that.
_Slot = tuple[int, int]
_RULE_EVENTS = ("RulePublished", "RulePaused", "RuleResumed", "RuleDeleted")
_NEVER_PUBLISHED = 10**6
# An engine may omit what goes beyond it in one micro-batch; the oracle omits nothing.
_MOST_RECORDS = 999
_MOST_RULES = 4
_WRONG: tuple[dict[str, Any], ...] = (
    {"ruleId": None},
    {"ruleId": "1"},
    {"traceUntil": None},
    {"traceUntil": 1.5},
    {"traceUntil": True},
    {"commandId": 7},
)


@dataclass(frozen=True, slots=True)
class _Command:
    """A command in its slot of the order, which arrives in these micro-batches."""

    slot: _Slot
    batches: tuple[int, ...]
    event: dict[str, Any]
    is_readable: bool = True


def with_traces(rng: Random, profile: Profile, history: list[MicroBatch]) -> list[MicroBatch]:
    """The same history with some rules traced, or as it is."""
    rules = min(_MOST_RULES, _MOST_RECORDS // max(1, profile.transactions))
    if rules == 0 or rng.random() >= profile.traced:
        return history
    return _numbered_anew(rng, history, _Plan(rng, history, rules).commands())


class _Plan:
    """Draws the commands from the first to the last."""

    def __init__(self, rng: Random, history: list[MicroBatch], most_rules: int) -> None:
        self._rng = rng
        self._history = history
        self._most_rules = most_rules
        self._states: dict[int, str] = {}
        self._traced: list[int] = []

    def commands(self) -> list[_Command]:
        last = len(self._history) - 1
        batch_numbers = sorted(self._rng.randint(0, last) for _ in range(self._rng.randint(2, 9)))
        made: list[_Command] = []
        highest = 0
        for number, batch in enumerate(self._history):
            events = sorted(_readable(batch), key=lambda event: int(event["position"]))
            fresh = [event for event in events if event["position"] > highest]
            slots = sorted(self._rng.randint(0, len(fresh)) for _ in range(batch_numbers.count(number)))
            for slot in range(len(fresh) + 1):
                for _ in range(slots.count(slot)):
                    made.append(self._command((highest, len(made)), number))
                if slot < len(fresh):
                    highest = self._pass(fresh[slot])
        return made

    def _pass(self, event: dict[str, Any]) -> int:
        """Note what an event says of its rule, roughly: it may be one that nobody can read."""
        if event.get("type") in _RULE_EVENTS:
            self._states[event["ruleId"]] = event["state"]
        return int(event["position"])

    def _command(self, slot: _Slot, batch: int) -> _Command:
        rule_id, until, now = self._rule(), self._until(batch), self._now(batch)
        event: dict[str, Any] = json.loads(Registry().trace(rule_id, until, now))
        for name in ("eventId", "commandId"):
            event[name] = str(uuid.UUID(int=self._rng.getrandbits(128), version=4))
        is_readable = self._rng.random() >= 0.05
        if not is_readable:
            event.update(self._rng.choice(_WRONG))
        again = self._rng.randint(batch, len(self._history) - 1)
        batches = (batch, again) if self._rng.random() < 0.3 else (batch,)
        return _Command(slot, batches, event, is_readable)

    def _rule(self) -> int:
        """Mostly one that lives, often one traced before; paused, deleted or unknown too."""
        style = self._rng.random()
        by_state = {state: self._in(state) for state in ("ACTIVE", "PAUSED", "DELETED")}
        if style < 0.08 and by_state["DELETED"]:
            return self._rng.choice(by_state["DELETED"])
        if style < 0.12:
            return _NEVER_PUBLISHED
        if self._traced and (style < 0.35 or len(self._traced) == self._most_rules):
            return self._rng.choice(self._traced)
        paused = by_state["PAUSED"]
        choices = paused if paused and style < 0.5 else paused + by_state["ACTIVE"]
        # The next id there will be, if any: a command that comes too early.
        chosen = self._rng.choice(choices) if choices and style < 0.92 else max(self._states, default=0) + 1
        self._traced += [] if chosen in self._traced else [chosen]
        return chosen

    def _in(self, state: str) -> list[int]:
        return sorted(rule_id for rule_id, other in self._states.items() if other == state)

    def _now(self, batch: int) -> int:
        """When the command is given: about when the last payment before it was on record."""
        times = self._record_times(0, batch) or self._record_times(batch, len(self._history)) or [0]
        return times[-1]

    def _until(self, batch: int) -> int:
        """For so many seconds, until exactly some payment or just behind it, for good, or over already."""
        style, now = self._rng.random(), self._now(batch)
        ahead = self._record_times(batch, len(self._history))
        if style < 0.5 and ahead:
            return self._rng.choice(ahead) + self._rng.choice([0, 0, 1])
        if style < 0.7:
            return now + 1000 * self._rng.choice([1, 5, 60, 300, 3600])
        return self._rng.choice([LAST_TIME, LAST_TIME, LAST_TIME, now, 0])

    def _record_times(self, since: int, until: int) -> list[int]:
        return [record.record_time for batch in self._history[since:until] for record in batch.records]


def _readable(batch: MicroBatch) -> list[dict[str, Any]]:
    return [event for raw in batch.rule_events if _content(raw) is not None and (event := _read(raw))]


def _content(raw: bytes) -> Content | None:
    """What an event of the history's own says, None for what cannot be read or is far ahead."""
    events, _ = read_events([raw])
    return events[0].content if events and events[0].position < FAR_AHEAD else None


def _read(raw: bytes) -> dict[str, Any] | None:
    """The event, readable or not, None for what has no position, or one that is far ahead."""
    try:
        event = json.loads(raw)
    except ValueError:
        return None
    if not isinstance(event, dict) or "position" not in event or event["position"] >= FAR_AHEAD:
        return None
    return event


def _numbered_anew(rng: Random, history: list[MicroBatch], commands: list[_Command]) -> list[MicroBatch]:
    old = {(event["position"], -1) for batch in history for event in _readable(batch)}
    slots = sorted(old | {command.slot for command in commands if command.is_readable})

    def position(slot: _Slot) -> int:
        # what cannot be read takes no position: it gets that of the next one that can
        return 1 + bisect_left(slots, slot)

    batches: list[MicroBatch] = []
    for number, batch in enumerate(history):
        raws: list[bytes] = []
        for raw in batch.rule_events:
            event = _read(raw)
            raws.append(raw if event is None else _written(event, position((event["position"], -1))))
        for command in commands:
            for _ in range(command.batches.count(number)):
                raw = _written(command.event, position(command.slot))
                raws.insert(rng.randint(0, len(raws)), raw)
        batches.append(replace(batch, rule_events=tuple(raws)))
    return batches


def _written(event: dict[str, Any], position: int) -> bytes:
    return json.dumps({**event, "position": position}).encode()
