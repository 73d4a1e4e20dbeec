"""Recorded payments: CSV or JSON lines, read one by one, so that a bad line costs itself alone.

CSV: `transactionId,eventTime,payeeId,beneficiaryId,paymentType,paymentAmount[,ingestionTimestamp]`, times as
`yyyy-MM-dd HH:mm:ss` in UTC (the last one as ms too), a header line or none. JSON lines: one object each.
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
from tripline_demo.generator.payment_input import Transaction, read

Format = Literal["csv", "jsonl"]

COLUMNS: Final = (
    "transactionId",
    "eventTime",
    "payeeId",
    "beneficiaryId",
    "paymentType",
    "paymentAmount",
    "ingestionTimestamp",
)
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
            if not text.strip() or (form == "csv" and number == 1 and _is_header(text)):
                continue
            data = _from_csv(text) if form == "csv" else exact_json.loads(text)
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


def _is_header(text: str) -> bool:
    cells = [cell.strip().strip('"').casefold() for cell in text.split(",")]
    return cells[:2] == ["transactionid", "eventtime"]


def _from_csv(text: str) -> dict[str, object]:
    try:
        cells = next(csv.reader([text], strict=True))
    except (csv.Error, StopIteration) as error:
        raise InvalidInput([Problem("line", f"not CSV: {error}")]) from error
    if not len(COLUMNS) - 1 <= len(cells) <= len(COLUMNS):
        expected = f"expected {len(COLUMNS) - 1} or {len(COLUMNS)} fields, found {len(cells)}"
        raise InvalidInput([Problem("line", expected)])
    data: dict[str, object] = {
        name: cell for name, cell in zip(COLUMNS, map(str.strip, cells), strict=False) if cell
    }
    if "eventTime" in data:
        data["eventTime"] = _time(str(data["eventTime"]), "eventTime")
    entered = str(data.get("ingestionTimestamp", ""))
    if entered:
        as_ms = _INTEGER.fullmatch(entered)
        data["ingestionTimestamp"] = int(entered) if as_ms else _time(entered, "ingestionTimestamp")
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
