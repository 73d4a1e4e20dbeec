"""Differences between an alert as it stands and as it is derived again: member by member, contributor by contributor.

An alert lists the newest of its contributors only. So the derived one, which lists all, is cut to the same length
before they are compared; the counts are those of the whole windows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from tripline_engine.domain.judging.verdict import MAX_CONTRIBUTORS

Kind = Literal["member", "missing", "added", "altered", "not_derived", "history"]

NOT_COMPARED: Final = frozenset({"detectedAt", "mode"})
"""What depends on when it was judged, and on who asks."""

MAX_DIFFERENCES: Final = 200


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference; what is derived again is the truth.

    :ivar kind: of a contributor: `missing` from the alert, `added` to it, `altered` in it; `member`: any other member;
        `not_derived`: no such alert comes of the recorded order; `history`: the records are not those that were judged
    :ivar member: its path in the alert
    """

    kind: Kind
    member: str
    stored: Any = None
    derived: Any = None

    def to_json(self) -> dict[str, Any]:
        """As the prover answers it."""
        return {"kind": self.kind, "member": self.member, "stored": self.stored, "derived": self.derived}


def differences(stored: Mapping[str, Any], derived: Mapping[str, Any]) -> list[Difference]:
    """All differences, at most `MAX_DIFFERENCES`; none means that the alerts are equal byte for byte."""
    shortened = as_told(derived)
    every = _of_members(
        "",
        {name: value for name, value in stored.items() if name not in NOT_COMPARED},
        {name: value for name, value in shortened.items() if name not in NOT_COMPARED},
    )
    return [difference for _, difference in zip(range(MAX_DIFFERENCES), every, strict=False)]


def as_told(derived: Mapping[str, Any]) -> dict[str, Any]:
    """The alert with as many contributors as an engine lists."""
    conditions = derived.get("conditions")
    if conditions is None:
        return {**derived, "contributors": _shortened(derived["contributors"], MAX_CONTRIBUTORS)}
    listed = MAX_CONTRIBUTORS // (len(conditions) + sum("limitMeasure" in one for one in conditions))
    return {**derived, "conditions": [_condition(condition, listed) for condition in conditions]}


def _condition(condition: Mapping[str, Any], listed: int) -> dict[str, Any]:
    told = {**condition, "contributors": _shortened(condition["contributors"], listed)}
    behind = condition.get("limitMeasure")
    if behind is not None:
        told["limitMeasure"] = {**behind, "contributors": _shortened(behind["contributors"], listed)}
    return told


def _shortened(contributors: Mapping[str, Any], listed: int) -> dict[str, Any]:
    transactions = contributors["transactions"][:listed]
    return {
        "count": contributors["count"],
        "transactions": transactions,
        "truncated": contributors["count"] > len(transactions),
    }


def _of_members(path: str, stored: Mapping[str, Any], derived: Mapping[str, Any]) -> Iterator[Difference]:
    for name in [*derived, *(name for name in stored if name not in derived)]:
        member = f"{path}.{name}" if path else name
        mine, theirs = stored.get(name), derived.get(name)
        if mine == theirs and (name in stored) == (name in derived):
            continue
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            yield from _of_members(member, mine, theirs)
        elif name == "transactions" and isinstance(mine, Sequence) and isinstance(theirs, Sequence):
            yield from _of_contributors(member, mine, theirs)
        elif name == "conditions" and isinstance(theirs, list) and _are_alike(mine, theirs):
            for number, one in enumerate(theirs):
                yield from _of_members(f"{member}[{number}]", stored[name][number], one)
        else:
            yield Difference("member", member, mine, theirs)


def _are_alike(mine: object, theirs: list[Any]) -> bool:
    if not isinstance(mine, list) or len(mine) != len(theirs):
        return False
    return all(isinstance(condition, Mapping) for condition in mine)


def _of_contributors(member: str, stored: Sequence[Any], derived: Sequence[Any]) -> Iterator[Difference]:
    mine, theirs = _by_identity(stored), _by_identity(derived)
    reported = False
    for identity, contributor in theirs.items():
        if identity not in mine:
            reported = True
            yield Difference("missing", member, None, contributor)
        elif mine[identity] != contributor:
            reported = True
            yield Difference("altered", member, mine[identity], contributor)
    for identity, contributor in mine.items():
        if identity not in theirs:
            reported = True
            yield Difference("added", member, contributor, None)
    if not reported:
        # the same ones in another order, or one of them twice
        yield Difference("member", member, list(stored), list(derived))


def _by_identity(contributors: Sequence[Any]) -> dict[tuple[Any, int], Any]:
    """By id, and the how many-th with it: one whose time was altered is the same one."""
    seen: Counter[Any] = Counter()
    identified: dict[tuple[Any, int], Any] = {}
    for contributor in contributors:
        identity = str(contributor.get("transactionId") if isinstance(contributor, Mapping) else contributor)
        identified[identity, seen[identity]] = contributor
        seen[identity] += 1
    return identified
