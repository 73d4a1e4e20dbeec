"""How a part of the line is: a level, what is wrong in one sentence, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Level = Literal["good", "behind", "wrong", "away", "not_seen"]
LEVELS: Final[tuple[Level, ...]] = ("good", "behind", "wrong", "away", "not_seen")

PARTS: Final[Mapping[str, str]] = {
    "postgres": "Postgres",
    "kafka": "Kafka",
    "topics": "Topics",
    "registry": "Rules registry",
    "relay": "Relay of rules",
    "status-projector": "Status projector",
    "engine": "Engine",
    "archiver": "Archiver",
    "prover": "Prover",
    "projector": "Alert projector",
    "alert-api": "Alert API",
    "redrive": "Redrive of rejected records",
    "notifier": "Notices of cases",
    "retention": "Retention",
    "guard": "Guard of changed rules",
}
"""All parts by name, in the order of the line, with what people call them."""

# Sections of docs/runbook.md.
AWAY_SECTION: Final = "A part of the line is away"
LATE_SECTION: Final = "Alerts are late or missing"
FULL_SECTION: Final = "The intake has stopped: history is full"
UNAPPLIED_SECTION: Final = "A rule is published but not applied"
REFUSED_SECTION: Final = "A rule event was refused, or rules differ"
UNREADABLE_SECTION: Final = "The alert projector refuses records"
ARCHIVE_SECTION: Final = "Retention of the archive"
SECTIONS: Final = (
    AWAY_SECTION, LATE_SECTION, FULL_SECTION, UNAPPLIED_SECTION, REFUSED_SECTION, UNREADABLE_SECTION, ARCHIVE_SECTION,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong in one sentence, what to do in another, and the section of the runbook that says more."""

    level: Level
    sentence: str
    advice: str
    section: str


@dataclass(frozen=True, slots=True)
class PartHealth:
    """One part. `lag` is in records, or events of rules; `position` is that of the rule log, applied there."""

    name: str
    seen_at: int | None
    trouble: Trouble | None = None
    lag: int | None = None
    position: int | None = None
    shards: Mapping[str, int] | None = None
    """The position that each shard of an engine has applied."""

    @property
    def level(self) -> Level:
        """Good is only what was seen, and has no trouble."""
        if self.trouble is not None:
            return self.trouble.level
        return "not_seen" if self.seen_at is None else "good"

    @property
    def title(self) -> str:
        """What people call it."""
        return PARTS[self.name]


_TOLD_BY: Final = {
    "kafka": "TRIPLINE_KAFKA",
    "topics": "TRIPLINE_KAFKA",
    "engine": "TRIPLINE_ENGINE_METRICS_URL",
}


def not_told(name: str) -> PartHealth:
    """Of a part whose address nobody gave."""
    return PartHealth(
        name,
        None,
        Trouble(
            "not_seen",
            "Nothing is known of it: this service was not told where it is.",
            f"If this installation has one, name it in {_TOLD_BY.get(name, f'TRIPLINE_PARTS ({name}=http://…)')}.",
            AWAY_SECTION,
        ),
    )


def away(name: str, seen_at: int | None, reason: str) -> PartHealth:
    """Of a part that was asked and did not answer."""
    return PartHealth(
        name,
        seen_at,
        Trouble(
            "away",
            reason if reason.endswith(".") else f"{reason}.",
            f"{_KEPT.get(name, 'Nothing is lost meanwhile.')} Look whether it runs, and at the last lines of its log.",
            AWAY_SECTION,
        ),
    )


_KEPT: Final = {
    "postgres": "Alerts wait in Kafka, and no rule can be changed until it is back.",
    "kafka": "No transaction is judged until it is back.",
    "topics": "Nothing can be read or written until they are made.",
    "registry": "Rules stay as they are and go on firing, but none can be changed.",
    "relay": "Changes of rules are kept, and come to the engine when it is back.",
    "status-projector": "Rules are applied, but it is not told here.",
    "engine": "No rule fires until it is back; transactions wait in Kafka, and none is lost.",
    "archiver": "Kafka keeps what it has not written, until Kafka's retention deletes it.",
    "prover": "Alerts cannot be proven or explained until it is back.",
    "projector": "Alerts wait in Kafka and are not shown until it is back.",
    "notifier": "Cases are worked on, but nobody is told; what happened meanwhile goes out afterwards.",
    "redrive": "Records that the engine did not accept are kept, but not listed.",
    "retention": "Nothing is deleted: tables and summaries grow.",
    "guard": "Rules that somebody changed behind the registry are not noticed.",
}
