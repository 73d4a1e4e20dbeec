"""A mapping proposed from a file's first rows: what is certain, what is likely, and what is left open.

Nothing is answered that is not known: where no column or several could be it, where a time or a number may mean two
things, the entry stays open, and the mapping is refused by its name until somebody says it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from tripline_contracts.event_type import EventType, Field
from tripline_contracts.recordings.amounts import NumberStyle
from tripline_contracts.recordings.proposals.column_names import Match, matches
from tripline_contracts.recordings.proposals.guesses import (
    TIME_OF_DAY,
    TimeGuess,
    most_likely_style,
    most_likely_time,
)
from tripline_contracts.recordings.proposals.sample import Sample
from tripline_contracts.recordings.proposals.value_shapes import candidates, in_order

Sure = Literal["certain", "likely", "open"]
SURE: Final[tuple[Sure, ...]] = ("certain", "likely", "open")
_MOST_VALUES: Final = 20
_DAY: Final = 11
"""Characters of a day without a time of day, at most."""
_CERTAIN_FORMS: Final = ("iso-8601",)


@dataclass(frozen=True, slots=True)
class ProposedField:
    """How a field comes about.

    :ivar sure: `open` where something has to be said before the mapping can be used
    :ivar columns: none where nobody knows, or the file has none; two of a day and a time of day
    :ivar forms: of a time those that fit all values; one is proposed, of several one has to be chosen
    :ivar values: of an enum what the file says and what that means, None where nobody knows; None if it says the same
    :ivar candidates: columns that it could be, by their values or by a name that there is twice
    :ivar is_numbered: an id that is made of the number of the line
    """

    field: Field
    sure: Sure
    reason: str
    columns: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    values: Mapping[str, str | None] | None = None
    candidates: tuple[str, ...] = ()
    is_numbered: bool = False


@dataclass(frozen=True, slots=True)
class ProposedNumbers:
    """How amounts are written: one style is proposed, of several one has to be chosen. Each reads `example`."""

    styles: tuple[NumberStyle, ...] = ()
    example: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The whole of it.

    :ivar needs_zone: times name none, and the mapping has to
    """

    sample: Sample
    fields: tuple[ProposedField, ...]
    numbers: ProposedNumbers = field(default_factory=ProposedNumbers)
    needs_zone: bool = False

    @property
    def unused(self) -> list[str]:
        """Columns that nothing is read from."""
        read = {name for proposed in self.fields for name in proposed.columns}
        return [name for name in self.sample.names if name not in read]


def proposal_of(sample: Sample, event_type: EventType) -> Proposal:
    """What is known of this sample."""
    sample = sample.with_nulls({value for one in event_type.fields for value in one.values})
    matched = matches(sample, event_type) or in_order(sample, event_type)
    taken = {name for match in matched.values() for name in match.columns}
    free = [name for name in sample.names if name not in taken]
    proposed: list[ProposedField] = []
    needs_zone = False
    for one in event_type.fields:
        match = matched.get(one.name)
        if match is None:
            proposed.append(_unmatched(sample, one, free))
        elif len(match.columns) > 1:
            proposed.append(_ambiguous(sample, one, match))
        elif one.kind == "timestamp":
            timed, guess = _time(sample, one, match)
            needs_zone = needs_zone or guess.needs_zone
            proposed.append(timed)
        else:
            proposed.append(_plain(sample, one, match))
    return Proposal(sample, tuple(proposed), _numbers(sample, proposed), needs_zone)


def _unmatched(sample: Sample, one: Field, free: list[str]) -> ProposedField:
    could_be = candidates(sample, one, free)
    by_value = f"; by the values it could be {_listed(sample, could_be)}" if could_be else ""
    if one.role == "id":
        reason = f"no column looks like an id{by_value}"
        return ProposedField(one, "likely", reason, candidates=could_be, is_numbered=True)
    reason = f"no column looks like it{by_value}"
    if one.required:
        return ProposedField(one, "open", reason, candidates=could_be)
    return ProposedField(one, "likely", f"{reason}; it may be missing", candidates=could_be)


def _ambiguous(sample: Sample, one: Field, match: Match) -> ProposedField:
    reason = f"{len(match.columns)} columns are called {sample.heading(match.columns[0])!r}"
    return ProposedField(one, "open" if one.required else "likely", reason, candidates=match.columns)


def _plain(sample: Sample, one: Field, match: Match) -> ProposedField:
    named = _named(sample, one, match)
    values = [str(value) for value in sample.values(match.columns[0])]
    if one.role == "id" and len(set(values)) < len(values):
        times = len(values) - len(set(values))
        reason = f"{named.reason}; {times} of its first {len(values)} values repeat, and equal ids count once"
        return replace(named, sure="likely", reason=reason)
    if one.kind == "decimal":
        return _amount(sample, named)
    if one.kind != "enum" or all(value in one.values for value in values):
        return named
    known = {value.casefold(): value for value in one.values}
    meanings = {value: known.get(value.casefold()) for value in sorted(set(values))[:_MOST_VALUES]}
    unknown = [value for value, meaning in meanings.items() if meaning is None]
    if not unknown:
        return replace(named, sure="likely", reason="its values differ in case alone", values=meanings)
    reason = f"what {unknown[0][:40]!r} means, of {', '.join(one.values)}, has to be said"
    return replace(named, sure="open", reason=reason, values=meanings)


def _amount(sample: Sample, named: ProposedField) -> ProposedField:
    values = sample.values(named.columns[0])
    guess = most_likely_style(values)
    if values and not guess.styles:
        example = guess.misfits[0] if guess.misfits else str(values[0])
        return replace(named, sure="open", reason=f"the amounts are not numbers, as {example[:40]!r}")
    if not guess.misfits:
        return named
    said = _misfitting(guess.misfits, len(values), "no number")
    return replace(named, sure="likely", reason=f"{named.reason}; {said}")


def _misfitting(misfits: tuple[str, ...], count: int, what: str) -> str:
    are = "is" if len(misfits) == 1 else "are"
    return f"{len(misfits)} of its first {count} values {are} {what}, as {misfits[0][:40]!r}"


def _time(sample: Sample, one: Field, match: Match) -> tuple[ProposedField, TimeGuess]:
    """The column's own form, or with the column of times of day that stands beside a column of days."""
    named = _named(sample, one, match)
    columns, guess = _timed(sample, match.columns[0])
    if sample.by_position and len(columns) > 1:
        reason = (
            f"the time of day is in column {columns[1]}, and names alone join columns: give the file a header"
        )
        return replace(named, sure="open", reason=reason), guess
    named = replace(named, columns=columns, forms=guess.forms)
    if len(guess.forms) == 1:
        if guess.forms[0] in _CERTAIN_FORMS and not guess.misfits:
            return named, guess
        said = "no other form fits all values"
        if guess.misfits:
            said = _misfitting(guess.misfits, len(sample.values(columns[0])), "in no form that is known")
        return replace(named, sure="likely", reason=f"{named.reason}; {said}"), guess
    values = sample.values(columns[0])
    example = repr(str(values[0])[:40]) if values else "nothing"
    if guess.forms:
        reason = f"{example} may be {' or '.join(guess.forms)}"
    else:
        reason = f"{example} is in no form that is known: say a pattern of strptime, or {{unit, since}} for a count"
    return replace(named, sure="open", reason=reason), guess


def _timed(sample: Sample, column: str) -> tuple[tuple[str, ...], TimeGuess]:
    values = sample.values(column)
    if values and all(isinstance(value, str) and len(value) <= _DAY for value in values):
        for name in sample.names:
            clocks = sample.values(name)
            if len(clocks) == len(values) and all(TIME_OF_DAY.fullmatch(str(clock)) for clock in clocks):
                joined = most_likely_time(
                    [f"{day} {clock}" for day, clock in zip(values, clocks, strict=True)]
                )
                if joined.forms:
                    return (column, name), joined
    return (column,), most_likely_time(values)


def _numbers(sample: Sample, proposed: list[ProposedField]) -> ProposedNumbers:
    values = [
        value
        for one in proposed
        if one.field.kind == "decimal" and one.columns
        for value in sample.values(one.columns[0])
    ]
    if not values:
        return ProposedNumbers()
    styles, misfits = most_likely_style(values).styles, most_likely_style(values).misfits
    texts = [text for value in values if (text := str(value)) not in misfits]
    example = next((text for text in texts if re.search("[.,']", text)), str(values[0]))
    return ProposedNumbers(styles, example)


def _named(sample: Sample, one: Field, match: Match) -> ProposedField:
    if match.is_own:
        return ProposedField(one, "certain", "the column has the name of the field", match.columns)
    heading = sample.heading(match.columns[0])
    reason = f"{heading[:60]!r} is what others call it" if heading else "the columns are in the type's order"
    return ProposedField(one, "likely", reason, match.columns)


def _listed(sample: Sample, names: tuple[str, ...]) -> str:
    shown = [f"column {name}" if sample.by_position else repr(name[:40]) for name in names]
    return " or ".join(shown)
