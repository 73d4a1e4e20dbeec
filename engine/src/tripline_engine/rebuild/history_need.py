"""The history that the rules' windows need, from rules.v1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from tripline_engine.domain.rules.tolerances import Tolerances


@dataclass(frozen=True, slots=True)
class HistoryNeed:
    """The widest window in use, 0 for none, and its rule."""

    window_seconds: int
    rule_id: int | None
    settings: Tolerances

    def oldest(self, clock: int, windows: int = 1) -> int:
        """The oldest record time (ms) that `windows` consecutive widest windows can hold at that clock (ms).

        An event time lies at most `maxFutureSkew` ahead of its record time, and may be seen until it is
        `allowedLateness + maxDisorder` behind the window.
        """
        late = self.settings.allowed_lateness_ms + self.settings.max_disorder_ms
        return clock - windows * self.window_seconds * 1000 - late - self.settings.max_future_skew_ms


def history_need(events: Iterable[bytes | None], clock: int) -> HistoryNeed:
    """The need at a record clock (ms), from all events of rules.v1.

    Each event carries the widest windows of rules after it. An older event counts as long as no later version is in
    force for every transaction that may still come. A shadow's window stands in its definition, and counts while that
    runs.
    """
    readable = sorted(_readable(events), key=lambda event: event["position"])
    settings = _settings(readable)
    late = settings.allowed_lateness_ms + settings.max_disorder_ms
    widest: tuple[int, int | None] = (0, None)
    in_force = -1
    for number, event in enumerate(reversed(readable)):
        if number and in_force + late < clock:
            break
        widest = max(widest, _widest(event), key=lambda window: window[0])
        in_force = max(in_force, _moment(event.get("effectiveFrom")), _moment(event.get("occurredAt")))
    widest = max([widest, *_shadows(readable)], key=lambda window: window[0])
    return HistoryNeed(widest[0], widest[1], settings)


def _shadows(events: list[dict[str, Any]]) -> list[tuple[int, int | None]]:
    """The widest window of each shadow that runs after all of the events, and its rule."""
    running: dict[Any, tuple[int, int | None]] = {}
    for event in events:
        kind, rule_id = event.get("type"), event.get("ruleId")
        if kind == "RuleShadowStarted":
            running[rule_id] = _widest_of(event.get("definition")), rule_id
        elif kind in ("RulePublished", "RuleShadowEnded", "RuleShadowPromoted", "RuleDeleted"):
            running.pop(rule_id, None)
    return list(running.values())


def _widest_of(definition: object) -> int:
    """The furthest that a window reaches back in a definition, or in a part of it, in seconds."""
    if isinstance(definition, list):
        return max(map(_widest_of, definition), default=0)
    if not isinstance(definition, dict):
        return 0
    window, offset = definition.get("windowSeconds", 0), definition.get("offsetSeconds", 0)
    reach = window + offset if _is_integer(window) and _is_integer(offset) else 0
    return max([reach, *map(_widest_of, definition.values())])


def _readable(events: Iterable[bytes | None]) -> Iterable[dict[str, Any]]:
    for data in events:
        try:
            event = msgspec.json.decode(data or b"")
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(event, dict) and _is_integer(event.get("position")) and _says_windows(event):
            yield event


def _says_windows(event: dict[str, Any]) -> bool:
    windows = event.get("widestWindows")
    return isinstance(windows, list) and all(
        isinstance(window, dict) and _is_integer(window.get("windowSeconds")) for window in windows
    )


def _settings(events: list[dict[str, Any]]) -> Tolerances:
    for event in reversed(events):
        if event.get("type") == "SettingsChanged":
            try:
                return Tolerances.of(event["settings"])
            except (ValueError, LookupError, TypeError):
                continue
    return Tolerances()


def _widest(event: dict[str, Any]) -> tuple[int, int | None]:
    windows = [(window["windowSeconds"], window.get("ruleId")) for window in event["widestWindows"]]
    return max(windows, key=lambda window: window[0], default=(0, None))


def _moment(value: Any) -> int:
    return value if _is_integer(value) else -1


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
