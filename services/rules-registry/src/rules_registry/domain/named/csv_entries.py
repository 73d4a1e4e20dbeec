"""Entries of a list as lines of CSV: `value` or `value,until`, with or without a line that says so."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tripline_contracts import spelling
from tripline_contracts.errors import InvalidConstant, Problem
from tripline_contracts.filters.filter_constants import read_text
from tripline_contracts.filters.list_entries import MAX_TIME, ListEntry
from tripline_contracts.filters.named_values import MAX_TEXT

MAX_IMPORT_BYTES: Final = 32 * 1024 * 1024
MAX_IMPORT_LINES: Final = 1_000_000
MOST_PROBLEMS: Final = 100
"""So many are named; then reading stops."""
EXPECTED_UNTIL: Final = "ms since the epoch, or a time as 2026-12-31T23:59:59Z"
_HEADERS: Final = (["value"], ["value", "until"])


@dataclass(frozen=True, slots=True)
class CsvEntries:
    """What the lines say, each value once, the last of them; or what is wrong with them."""

    entries: tuple[ListEntry, ...]
    lines: int
    problems: tuple[Problem, ...]


def read_csv(lines: Iterable[str]) -> CsvEntries:
    """Reads them all, or as far as there are MOST_PROBLEMS. Blank lines are passed over. A field with a comma, a quote
    or spaces at its ends that count is quoted as in RFC 4180. Raises UnicodeDecodeError of what the lines come from."""
    entries: dict[str, ListEntry] = {}
    problems: list[Problem] = []
    count = 0
    for number, row in _rows(lines, problems):
        if (count == 0 and row in _HEADERS) or not row:
            continue
        count += 1
        if count > MAX_IMPORT_LINES:
            problems.append(Problem("body", f"expected at most {MAX_IMPORT_LINES} lines with a value"))
        if len(problems) >= MOST_PROBLEMS or count > MAX_IMPORT_LINES:
            break
        entry = _entry(row, number, problems)
        if entry is not None:
            entries[entry.value] = entry
    if count == 0 and not problems:
        problems.append(Problem("body", "expected at least one line with a value"))
    return CsvEntries(() if problems else tuple(entries.values()), count, tuple(problems))


def _rows(lines: Iterable[str], problems: list[Problem]) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(lines, strict=True)
    while True:
        first = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.append(Problem(f"line {first}", f"expected a line of CSV: {error}"))
            return
        yield first, row


def _entry(row: list[str], number: int, problems: list[Problem]) -> ListEntry | None:
    if len(row) > 2:
        problems.append(Problem(f"line {number}", f"expected value or value,until; not {len(row)} fields"))
        return None
    try:
        value = read_text(row[0], MAX_TEXT)
        return ListEntry(value, _until(row[1]) if len(row) == 2 and row[1] else None)
    except InvalidConstant as error:
        problems.append(Problem(f"line {number}", str(error)))
        return None


def _until(text: str) -> int:
    refused = InvalidConstant(f"expected {EXPECTED_UNTIL}, as until; not {spelling.shown(text)}")
    if text.isascii() and text.isdigit():
        if len(text) > 15 or int(text) > MAX_TIME:
            raise refused
        return int(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise refused from None
    # a time without a zone would be another one wherever it is read
    if time.tzinfo is None or time.timestamp() < 0:
        raise refused
    return int(time.timestamp() * 1000)
