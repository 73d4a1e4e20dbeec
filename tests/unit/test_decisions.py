"""docs/decisions: each record has a legal status, supersedes is said at both ends, and the index is complete."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DECISIONS = Path(__file__).parents[2] / "docs" / "decisions"
STATUS = re.compile(r"superseded by \d{4}|accepted(; [^;]+ superseded by \d{4}(, \d{4})*)*")
INDEX_ENTRY = re.compile(
    r"^- \[(\d{4})\]\((\S+)\) \*\*(.+?)\*\*\n  (.+?)\n  \*(.+?)\*$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Decision:
    """The head of one record: title, status without links, and the records that it supersedes in whole or part."""

    file: str
    title: str
    status: str
    supersedes: tuple[tuple[str, str], ...]

    @property
    def superseded_by(self) -> set[str]:
        return set(re.findall(r"\b\d{4}\b", self.status))


@cache
def decisions() -> dict[str, Decision]:
    """Every record in the folder, by its number."""
    return {path.name[:4]: decision(path) for path in sorted(DECISIONS.glob("[0-9]*.md"))}


def decision(path: Path) -> Decision:
    text = path.read_text(encoding="utf-8")
    title, head = re.match(r"# \d{4}\. (.+)\n\n((?:(?:- |  ).+\n)+)", text).groups()  # type: ignore[union-attr]
    fields = dict(re.findall(r"^- (\w+): ((?:.|\n  )+)$", head, flags=re.MULTILINE))
    return Decision(
        path.name, title, plain(fields["Status"]), supersedes(plain(fields.get("Supersedes", "")))
    )


def supersedes(text: str) -> tuple[tuple[str, str], ...]:
    """Of "0046 (#4), 0063 (#3)" the numbers and what they lose; nothing is the whole record."""
    return tuple(re.findall(r"(\d{4})(?: \(([^)]+)\))?", text))


def plain(text: str) -> str:
    """Markdown without links and line breaks."""
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", re.sub(r"\s+", " ", text)).strip()


def test_every_decision_has_a_legal_status() -> None:
    assert [entry.file for entry in decisions().values() if not STATUS.fullmatch(entry.status)] == []


def test_supersedes_is_said_at_both_ends() -> None:
    forward = {(newer, older) for newer, entry in decisions().items() for older, _ in entry.supersedes}
    backward = {(newer, older) for older, entry in decisions().items() for newer in entry.superseded_by}
    assert forward == backward
    assert all(newer > older for newer, older in forward)


def test_the_index_of_decisions_is_what_the_records_say() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    entries = [
        (number, file, plain(title), plain(status))
        for number, file, title, _, status in INDEX_ENTRY.findall(index)
    ]
    assert entries == [
        (number, entry.file, entry.title, index_status(entry)) for number, entry in decisions().items()
    ]


def index_status(entry: Decision) -> str:
    """The status line of the index: "Accepted; #4 superseded by 0071. Supersedes 0002 (#1 in part)."."""
    older = ", ".join(f"{number} ({part})" if part else number for number, part in entry.supersedes)
    return f"{entry.status[0].upper()}{entry.status[1:]}." + (f" Supersedes {older}." if older else "")
