"""Settings of cases: what they are about (TRIPLINE_CASE_SUBJECT_FIELDS), and when they are due (TRIPLINE_CASE_DUE)."""

from __future__ import annotations

from alert_api.domain.cases.due import DEFAULT, DuePolicy
from tripline_contracts.event_type import EventType
from tripline_http.errors import ConfigurationError


def read_due(text: str) -> DuePolicy:
    """The setting's value; nothing is the default. Raises ConfigurationError."""
    text = text.strip() or DEFAULT
    try:
        return DuePolicy.parse(text)
    except ValueError as error:
        raise ConfigurationError(
            f"TRIPLINE_CASE_DUE is {text!r}: {error}; expected {DEFAULT}, say, or none."
        ) from error


def subject_fields(text: str, declared: EventType) -> tuple[str, ...]:
    """The fields and parties named, under their canonical names; where none is, the parties, which come first among
    what rules run by, then the anchors, in the declared order."""
    names = _names(text)
    if not names:
        parties = [party.name for party in declared.parties]
        return (*parties, *(name for name in declared.anchors if name in declared.groupable))
    groupable = {name: name for name in declared.groupings} | {
        alias: declared.field(name).name
        for name in declared.groupable
        for alias in (name, *declared.field(name).aliases)
    }
    for name in names:
        if name not in groupable:
            raise ConfigurationError(
                f"TRIPLINE_CASE_SUBJECT_FIELDS names {name!r}; expected fields that rules can group by, with commas "
                f"between them: {', '.join(declared.groupings)}."
            )
    return tuple(dict.fromkeys(groupable[name] for name in names))


def party_sides(text: str, declared: EventType) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Of the parties that the same setting names the fields of their sides: alerts by these are about the party too."""
    return tuple((party.name, party.fields) for party in declared.parties if party.name in _names(text))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
