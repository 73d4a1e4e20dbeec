"""The delimiter and the header of a CSV file, recognised by its first lines, or told."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from tripline_contracts.errors import UnreadableFile
from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.file_mapping import FileMapping

DELIMITERS: Final = (",", ";", "\t", "|")
NAMES: Final = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
SAMPLE_LINES: Final = 50


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the columns stand.

    :ivar used: names under which cells are read, with their positions from 0
    :ivar count: cells of a row; at the end of it up to `count - least` may be missing
    :ivar has_header: the first row is one
    :ivar unused: columns of the header that nothing is read from
    """

    used: tuple[tuple[str, int], ...]
    count: int
    least: int
    has_header: bool
    unused: tuple[str, ...] = ()


def cells_of(text: str, delimiter: str) -> list[str]:
    """One row of CSV, its cells without blanks around them. Raises csv.Error."""
    return [cell.strip() for row in csv.reader([text], delimiter=delimiter, strict=True) for cell in row]


def delimiter_of(lines: Sequence[str], names: Collection[str]) -> str:
    """What parts the cells of these first lines, where a header may have some of the names.

    Raises UnreadableFile where it may be one or another.
    """
    if not lines:
        return ","
    folded = {name.casefold() for name in names}
    headed = {
        delimiter: sum(cell.casefold() in folded for cell in _leniently(lines[0], delimiter))
        for delimiter in DELIMITERS
    }
    best = max(headed.values())
    if best:
        return next(delimiter for delimiter in DELIMITERS if headed[delimiter] == best)
    likely = {delimiter: _evenness(lines, delimiter) for delimiter in DELIMITERS}
    even = max(likely.values())
    if even == (0, 0):
        return ","
    chosen = [delimiter for delimiter in DELIMITERS if likely[delimiter] == even]
    if len(chosen) > 1:
        raise UnreadableFile(
            f"cells may be parted by {' or '.join(NAMES[delimiter] for delimiter in chosen)}; the mapping has to say"
            " which (`delimiter`)"
        )
    return chosen[0]


def _evenness(lines: Sequence[str], delimiter: str) -> tuple[int, int]:
    """How many lines have the most usual number of cells, and that number; a single cell is nothing."""
    counts = Counter(len(_leniently(line, delimiter)) for line in lines)
    several = [(lines_of, cells) for cells, lines_of in counts.items() if cells > 1]
    return max(several, default=(0, 0))


def _leniently(text: str, delimiter: str) -> list[str]:
    return [cell.strip() for row in csv.reader([text], delimiter=delimiter) for cell in row]


def house_layout(first: Sequence[str], event_type: EventType) -> Layout:
    """Of a file without a mapping: a header that has the fields' names in any order and case, or the type's columns.

    Raises UnreadableFile for a header without a required field, or with one twice.
    """
    fields = [event_type.find(cell) for cell in first]
    count, least = len(event_type.columns), least_columns(event_type)
    named = [field.name for field in fields if field is not None]
    in_order = least <= len(first) and named == list(event_type.columns[: len(first)])
    if in_order or not named:
        return Layout(
            tuple((name, index) for index, name in enumerate(event_type.columns)), count, least, in_order
        )
    used = [(field.name, index) for index, field in enumerate(fields) if field is not None]
    repeated = [name for name, times in Counter(name for name, _ in used).items() if times > 1]
    if repeated:
        raise UnreadableFile(
            f"the header has two columns for {repeated[0]}; the mapping has to say which one counts"
        )
    names = {name for name, _ in used}
    missing = [field.name for field in event_type.fields if field.required and field.name not in names]
    if missing:
        raise UnreadableFile(
            f"the header has no column for {', '.join(missing)}; it has {shown(first)}. A mapping says which columns"
            " are which fields (`--propose` makes one)"
        )
    ingestion = event_type.ingestion_field
    may_end_early = ingestion is not None and used[-1] == (ingestion.name, len(first) - 1)
    unused = tuple(cell for cell, field in zip(first, fields, strict=True) if field is None and cell)
    return Layout(tuple(used), len(first), len(first) - may_end_early, True, unused)


def least_columns(event_type: EventType) -> int:
    """The least number of columns of a line: the time of entry may be missing where it is the last one."""
    entry = event_type.ingestion_field
    optional = entry is not None and event_type.columns[-1] == entry.name
    return len(event_type.columns) - optional


def mapped_layout(first: Sequence[str], mapping: FileMapping) -> Layout:
    """Of a file with a mapping. Raises UnreadableFile for a column that is not there, or there twice."""
    names, positions = mapping.columns, mapping.positions
    has_header = mapping.header if mapping.header is not None else bool(names)
    if names and not has_header:
        raise UnreadableFile(
            f"there is no header to look {names[0]!r} up in; expected `position` in the mapping"
        )
    used = [(name, _position(name, first)) for name in names]
    for number in positions:
        if number > len(first):
            raise UnreadableFile(
                f"the first row has {len(first)} cells, and the mapping reads number {number}"
            )
        used.append((position_name(number), number - 1))
    read = {index for _, index in used}
    unused = [cell for index, cell in enumerate(first) if index not in read and cell] if has_header else []
    return Layout(tuple(used), len(first), len(first), has_header, tuple(unused))


def position_name(number: int) -> str:
    """The name under which the cell at that position is read; no header has it."""
    return f"\0{number}"


def _position(name: str, header: Sequence[str]) -> int:
    folded = name.casefold()
    same = [index for index, cell in enumerate(header) if cell == name] or [
        index for index, cell in enumerate(header) if cell.casefold() == folded
    ]
    if len(same) == 1:
        return same[0]
    if same:
        raise UnreadableFile(
            f"the header has {len(same)} columns {name!r}; expected one, or `position` in the mapping"
        )
    raise UnreadableFile(f"the header has no column {name!r}; it has {shown(header)}")


def shown(names: Sequence[str]) -> str:
    """Names of columns for a sentence, the first twenty."""
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return ", ".join(repr(name[:40]) for name in names[:20]) + more
