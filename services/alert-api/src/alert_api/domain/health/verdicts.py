"""How a part is, from what it said of itself: its lag, its position in the log of rules, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from alert_api.domain.health.part_health import (
    ARCHIVE_SECTION,
    AWAY_SECTION,
    FULL_SECTION,
    LATE_SECTION,
    REFUSED_SECTION,
    UNAPPLIED_SECTION,
    UNREADABLE_SECTION,
    PartHealth,
    Trouble,
)
from alert_api.domain.health.reading import Reading

BEHIND_RECORDS: Final = 10_000
"""More records than a part that keeps up has waiting, at any rate that one machine judges."""

_LAG: Final[Mapping[str, str]] = {
    "engine": "tripline_engine_lag_records",
    "archiver": "tripline_archiver_lag_records",
    "projector": "tripline_alerts_lag_records",
    "redrive": "tripline_rejected_records_lag",
}
_POSITION: Final[Mapping[str, str]] = {"relay": "tripline_relay_position"}
LOG_POSITION: Final = "tripline_rules_log_position"


def published_position(relay: Reading | None) -> int | None:
    """The newest position of the registry's log, as the relay has read it; None where nobody said."""
    if relay is None:
        return None
    known = [relay.total(name) for name in (LOG_POSITION, _POSITION["relay"])]
    return max((position for position in known if position is not None), default=None)


def judged(name: str, seen_at: int, reading: Reading, published: int | None) -> PartHealth:
    """A part that answered. `published` is the newest position of the log of rules, where it is known."""
    shards = reading.by_label("tripline_engine_rule_position", "shard") if name == "engine" else {}
    position = min(shards.values()) if shards else reading.total(_POSITION.get(name, ""))
    lag = reading.total(_LAG.get(name, ""))
    if name == "relay" and None not in (published, position):
        lag = max(0, (published or 0) - (position or 0))
    return PartHealth(
        name,
        seen_at,
        _special(name, reading) or _not_ready(reading) or _behind(name, lag, position, published),
        lag,
        position,
        shards or None,
    )


def _special(name: str, reading: Reading) -> Trouble | None:
    """What the part's own metrics say is wrong."""
    if name == "engine" and reading.total("tripline_engine_rule_waiting"):
        return Trouble(
            "wrong",
            "It refused an event of the rules, and judges by the rules as they stood before.",
            "Find out who wrote it, and publish the event again.",
            REFUSED_SECTION,
        )
    if name == "engine" and reading.total("tripline_engine_takes_transactions") == 0:
        return Trouble(
            "wrong",
            "It has stopped reading: its history is full.",
            "Shorten or delete the rules with the widest windows, or give it more room.",
            FULL_SECTION,
        )
    if name == "relay" and (count := reading.total("tripline_rules_differences")):
        return Trouble(
            "wrong",
            f"The log of rules, its topic and the engines differ in {_counted(count, 'place')}.",
            "The relay's log names them.",
            REFUSED_SECTION,
        )
    if name == "relay" and (count := reading.total("tripline_rules_foreign_records")):
        return Trouble(
            "wrong",
            f"Somebody else wrote to the topic of rules: {_counted(count, 'record')}.",
            "Find out who, and close it before anything else.",
            REFUSED_SECTION,
        )
    if name == "archiver" and (count := reading.total("tripline_archiver_missing_records_total")):
        return Trouble(
            "wrong",
            f"Kafka deleted {_counted(count, 'record')} before they were archived.",
            "Give Kafka a longer retention, and the archiver a faster disk: they are not to be had again.",
            ARCHIVE_SECTION,
        )
    if name == "projector" and (count := reading.total("tripline_alerts_unreadable_total")):
        return Trouble(
            "wrong",
            f"It could not store {_counted(count, 'record')} since it was started.",
            "Look at them in alerts.unreadable_records: another release wrote them, or somebody else.",
            UNREADABLE_SECTION,
        )
    return None


def _not_ready(reading: Reading) -> Trouble | None:
    if reading.trouble is None:
        return None
    return Trouble(
        "wrong", f"It is not ready: {reading.trouble}", "Look at the last lines of its log.", AWAY_SECTION
    )


def _behind(name: str, lag: int | None, position: int | None, published: int | None) -> Trouble | None:
    if name in ("engine", "relay") and None not in (position, published):
        missing = (published or 0) - (position or 0)
        if missing > 0:
            return Trouble(
                "behind",
                f"It has not taken the newest {_counted(missing, 'change')} of the rules.",
                "Wait some seconds; if it stays so, look at the relay first.",
                UNAPPLIED_SECTION,
            )
    # The archiver keeps back what makes no whole file yet.
    if name != "archiver" and lag is not None and lag >= BEHIND_RECORDS:
        return Trouble(
            "behind",
            f"It is behind: {lag:,} records wait.",
            "It catches up if fewer come than it takes; if more wait each minute, the machine is too small.",
            LATE_SECTION,
        )
    return None


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
