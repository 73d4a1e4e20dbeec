"""Recorded transactions: CSV or JSON lines, read one by one, so that a bad line costs itself alone.

CSV: the columns of the event type, where the time of entry may be missing at the end; times as `yyyy-MM-dd HH:mm:ss` in
UTC (that of entry as ms too), a header line or none. JSON lines: one object each.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, Final, Literal

from tripline_contracts import exact_json
from tripline_contracts.errors import InvalidJson
from tripline_contracts.event_type import EventType
from tripline_demo.generator.errors import InvalidInput, Problem
from tripline_demo.generator.transaction_input import Transaction, read

Format = Literal["csv", "jsonl"]

MAX_LINE_BYTES: Final = 65_536
_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}", re.ASCII)
_INTEGER: Final = re.compile(r"[0-9]{1,15}", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that was left out, and why; lines count from 1."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line that was understood."""

    line: int
    transaction: Transaction


def read_lines(lines: Iterable[bytes], form: Format, event_type: EventType) -> Iterator[Line | BadLine]:
    """Each line but empty ones and a CSV header; whatever bytes come, nothing is raised."""
    for number, raw in enumerate(lines, start=1):
        try:
            if len(raw) > MAX_LINE_BYTES:
                raise InvalidInput([Problem("line", f"longer than {MAX_LINE_BYTES} bytes")])
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip("\r\n")
            if not text.strip() or (form == "csv" and number == 1 and _is_header(text, event_type)):
                continue
            data = _from_csv(text, event_type) if form == "csv" else exact_json.loads(text)
            yield Line(number, read(data, event_type))
        except (InvalidInput, InvalidJson) as error:
            yield BadLine(number, str(error))
        except UnicodeDecodeError:
            yield BadLine(number, "not UTF-8")


def bounded_lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file; of one that is too long only the beginning, still too long, so that it is refused."""
    while raw := file.readline(MAX_LINE_BYTES + 1):
        rest = raw
        while len(rest) > MAX_LINE_BYTES and not rest.endswith(b"\n"):
            rest = file.readline(MAX_LINE_BYTES + 1)
        yield raw


def _is_header(text: str, event_type: EventType) -> bool:
    cells = [cell.strip().strip('"').casefold() for cell in text.split(",")]
    return cells[:2] == [name.casefold() for name in event_type.columns[:2]]


def least_columns(event_type: EventType) -> int:
    """The least number of columns of a line: the time of entry may be missing where it is the last one."""
    entry = event_type.ingestion_field
    optional = entry is not None and event_type.columns[-1] == entry.name
    return len(event_type.columns) - optional


def _from_csv(text: str, event_type: EventType) -> dict[str, object]:
    try:
        cells = next(csv.reader([text], strict=True))
    except (csv.Error, StopIteration) as error:
        raise InvalidInput([Problem("line", f"not CSV: {error}")]) from error
    columns, least = event_type.columns, least_columns(event_type)
    if not least <= len(cells) <= len(columns):
        numbers = " or ".join(str(number) for number in range(least, len(columns) + 1))
        raise InvalidInput([Problem("line", f"expected {numbers} fields, found {len(cells)}")])
    data: dict[str, object] = {
        name: cell for name, cell in zip(columns, map(str.strip, cells), strict=False) if cell
    }
    time, entry = event_type.time_field.name, event_type.ingestion_field
    if time in data:
        data[time] = _time(str(data[time]), time)
    if entry is not None and entry.name in data:
        text = str(data[entry.name])
        data[entry.name] = int(text) if _INTEGER.fullmatch(text) else _time(text, entry.name)
    return data


def _time(text: str, field: str) -> int:
    """ms since the epoch, without a float on the way."""
    try:
        if not _TIME.fullmatch(text):
            raise ValueError(text)
        elapsed = datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC) - _EPOCH
    except ValueError:
        raise InvalidInput([Problem(field, "expected yyyy-MM-dd HH:mm:ss, UTC")]) from None
    return (elapsed.days * 86_400 + elapsed.seconds) * 1_000
