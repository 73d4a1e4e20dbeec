"""The life of a rule's version, as a table: which step leads from which state to which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from rules_registry.errors import IllegalStep

Lifecycle = Literal["DRAFT", "SUBMITTED", "APPROVED", "ACTIVE", "EXPIRED", "PAUSED", "RETIRED", "WITHDRAWN"]
"""APPROVED is published and not yet effective, EXPIRED not any more. States between APPROVED and ACTIVE, in
which a version judges without counting or for some groups only, would have their rows here."""
Step = Literal["edit", "submit", "reject", "withdraw", "approve", "begin", "end", "pause", "resume", "retire"]

STEPS: Final[Mapping[Lifecycle, Mapping[Step, Lifecycle]]] = {
    "DRAFT": {"edit": "DRAFT", "submit": "SUBMITTED", "withdraw": "WITHDRAWN"},
    "SUBMITTED": {"approve": "APPROVED", "reject": "DRAFT", "withdraw": "WITHDRAWN"},
    "APPROVED": {"begin": "ACTIVE", "pause": "PAUSED", "retire": "RETIRED"},
    "ACTIVE": {"end": "EXPIRED", "pause": "PAUSED", "retire": "RETIRED"},
    # by event time it may judge for a while what comes late: who has to stop it must be able to
    "EXPIRED": {"pause": "PAUSED", "retire": "RETIRED"},
    "PAUSED": {"resume": "ACTIVE", "retire": "RETIRED"},
    "RETIRED": {},
    "WITHDRAWN": {},
}


def after(state: Lifecycle, step: Step, subject: str) -> Lifecycle:
    """The state that the step leads to. Raises `IllegalStep`, which names the legal ones; `subject` begins its
    sentence."""
    following = STEPS[state].get(step)
    if following is None:
        raise IllegalStep(subject, state, step, tuple(STEPS[state]))
    return following


def lifecycle_of(state: str, effective_from: int, effective_until: int | None, now_ms: int) -> Lifecycle:
    """Where a published rule stands: by its state in the log, and whether its definition is effective yet, or still."""
    if state == "DELETED":
        return "RETIRED"
    if state == "PAUSED":
        return "PAUSED"
    if effective_until is not None and effective_until <= now_ms:
        return "EXPIRED"
    return "APPROVED" if effective_from > now_ms else "ACTIVE"


def diagram() -> str:
    """The table as a Mermaid state diagram."""
    lines = ["stateDiagram-v2", "    [*] --> DRAFT"]
    for state, steps in STEPS.items():
        lines += [f"    {state} --> {following}: {step}" for step, following in steps.items()]
        if not steps:
            lines.append(f"    {state} --> [*]")
    return "\n".join(lines) + "\n"
