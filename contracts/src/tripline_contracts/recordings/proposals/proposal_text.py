"""A proposal as the text of a mapping file: what is open stands there without a value, with a comment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Final

from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.amounts import NumberStyle
from tripline_contracts.recordings.proposals.column_names import names_of
from tripline_contracts.recordings.proposals.file_head import Head, head_of_file
from tripline_contracts.recordings.proposals.proposal import Proposal, ProposedField, proposal_of
from tripline_contracts.recordings.proposals.sample import sample_of, sample_of_parquet
from tripline_contracts.recordings.recording import PARQUET, ParquetReader

_NAMED: Final = 40
NO_ZONE: Final = "the times name no zone, say which clock they are of, as UTC or Europe/Berlin"


def propose(file: IO[bytes], event_type: EventType, parquet: ParquetReader | None = None) -> str:
    """The text of a mapping file, from the first bytes of a file. Raises UnreadableFile."""
    beginning = file.read(len(PARQUET))
    file.seek(0)
    if beginning == PARQUET and parquet is not None:
        return text_of(proposal_of(sample_of_parquet(file, event_type, parquet), event_type))
    return text_of(proposed(head_of_file(file), event_type))


def proposed(head: Head, event_type: EventType) -> Proposal:
    """What is proposed for a file that begins like this. Raises UnreadableFile."""
    known = [name for field in event_type.fields for name in names_of(field, event_type)]
    return proposal_of(sample_of(head, known), event_type)


def text_of(proposal: Proposal) -> str:
    """The mapping file."""
    return "".join(f"{line}\n" for line in _lines(proposal))


def _lines(proposal: Proposal) -> Iterator[str]:
    sample = proposal.sample
    rows = len(sample.rows)
    yield f"# Proposed from the first {rows} rows of a {sample.format} file; look at it before you use it."
    if proposal.unused and not sample.by_position:
        names = ", ".join(" ".join(name.split())[:60] for name in proposal.unused[:_NAMED])
        yield f"# Not read: {''.join(one if one.isprintable() else '?' for one in names)}"
    if sample.skipped:
        yield f"skipLines: {sample.skipped}  # likely: those lines have less cells than the others"
    if not sample.has_header:
        yield "header: false  # likely: the first row has numbers"
    elif sample.by_position:
        yield "header: true"
    if not sample.is_utf_8:
        yield "encoding: latin-1  # it is no UTF-8; windows-1252 may be meant"
    if sample.nulls:
        yield f"nulls: [{', '.join(map(quoted, sample.nulls))}]  # likely: words for no value"
    if proposal.needs_zone:
        yield f"timeZone:  # open: {NO_ZONE}"
    yield from _numbers(proposal)
    yield "fields:"
    for field in proposal.fields:
        yield from _field(field, proposal)


def _numbers(proposal: Proposal) -> Iterator[str]:
    styles, example = proposal.numbers.styles, proposal.numbers.example
    if len(styles) == 1:
        yield from _said(styles[0])
    elif styles:
        meanings = " or ".join(meaning_of(style, example) for style in styles)
        yield f"decimalComma:  # open: {quoted(example[:40])} may be {meanings}"
    elif example:
        yield f"# The amounts are not numbers, as {quoted(example[:40])}"


def _field(one: ProposedField, proposal: Proposal) -> Iterator[str]:
    name, by_position = one.field.name, proposal.sample.by_position
    comment = "" if one.sure == "certain" else f"  # {one.sure}: {' '.join(one.reason.split())}"
    if one.is_numbered:
        yield f'  {name}: {{rowNumber: "row-"}}{comment}'
    elif not one.columns:
        if one.field.required:
            yield f"  {name}: {{{'position' if by_position else 'column'}: }}{comment}"
    elif one.field.kind == "timestamp":
        form = quoted(one.forms[0]) if len(one.forms) == 1 else ""
        yield f"  {name}: {{{_source(one, by_position=by_position)}, form: {form}}}{comment}"
    elif one.values is not None:
        yield f"  {name}:"
        yield f"    {_source(one, by_position=by_position)}"
        yield f"    values:{comment}"
        for value, meaning in one.values.items():
            yield f"      {quoted(value)}: {meaning or ''}".rstrip()
    elif by_position:
        yield f"  {name}: {{{_source(one, by_position=True)}}}{comment}"
    else:
        yield f"  {name}: {quoted(one.columns[0])}{comment}"


def _source(one: ProposedField, *, by_position: bool) -> str:
    if by_position:
        return f"position: {one.columns[0]}"
    if len(one.columns) == 1:
        return f"column: {quoted(one.columns[0])}"
    return f"columns: [{', '.join(map(quoted, one.columns))}]"


def quoted(text: str) -> str:
    """As YAML has it in double quotes, on one line: characters that it refuses are escaped."""
    shown = json.dumps(text, ensure_ascii=False)
    return "".join(
        character if character.isprintable() else f"\\U{ord(character):08x}" for character in shown
    )


def _said(style: NumberStyle) -> Iterator[str]:
    if style.decimal_comma:
        yield "decimalComma: true"
    if style.thousands is not None:
        yield f"thousands: {quoted(style.thousands)}"
    if style.shortest_floats:
        yield "floats: shortest  # the amounts are binary numbers"


def meaning_of(style: NumberStyle, example: str) -> str:
    """What the example is in that style, and how a mapping says the style."""
    said = " and ".join(line.split("  #")[0] for line in _said(style)) or "with a decimal point"
    return f"{style.plain(example)} ({said})"
