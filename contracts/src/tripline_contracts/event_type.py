"""Event types: the declared fields of what flows through, as data.

They drive parsing, validation of rule definitions, evaluation, and how people are told of them. `transaction`, the
default, and `card-authorisation` ship. What an installation judges is in `installed`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tripline_contracts.errors import UnknownField

Role = Literal["id", "time", "key", "measure", "attribute"]
Kind = Literal["string", "timestamp", "decimal", "enum", "ip", "position"]
TEXT_KINDS: Final[tuple[Kind, ...]] = ("string", "enum", "ip", "position")
"""What groups, named lists and alerts hold as texts."""

DEFAULT: Final = "transaction"
GLOBAL_ANCHOR: Final = "global"
SIDE: Final = "side"
"""The member of filters and alerts that says on which side of an entry its party is."""
MAX_TIMESTAMP: Final = 253_402_300_799_999
"""9999-12-31T23:59:59.999Z in ms since the epoch; the least is 0."""


@dataclass(frozen=True, slots=True)
class Field:
    """One declared field. `values` only for an enum, `max_length` (in code points) only for a string.

    `label` and `plural` are what people call one and several of it.
    """

    name: str
    role: Role
    kind: Kind
    aliases: tuple[str, ...] = ()
    required: bool = False
    values: tuple[str, ...] = ()
    max_length: int | None = None
    ingestion: bool = False
    label: str = ""
    plural: str = ""

    @property
    def groupable(self) -> bool:
        """Rules may group by it: anything but the identity and the times."""
        return self.role not in ("id", "time")

    @property
    def names(self) -> tuple[str, ...]:
        """The canonical name, then the aliases."""
        return (self.name, *self.aliases)


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a party, and the field that has the party's value there."""

    name: str
    field: str


@dataclass(frozen=True, slots=True)
class Party:
    """A name that rules may group by, and its sides in their order: one party of an event, whichever side it is on.

    An account pays in one event and is paid in the next. By a party these are one group: each event is one *entry* for
    each side whose field is not null, in the order in which the sides are declared.
    """

    name: str
    sides: tuple[Side, ...]

    @property
    def side_names(self) -> tuple[str, ...]:
        """The names of its sides, in their order."""
        return tuple(side.name for side in self.sides)

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of its sides, in their order."""
        return tuple(side.field for side in self.sides)


@dataclass(frozen=True, slots=True)
class EventType:
    """A named, versioned set of fields and its anchors in order. Field order is the declared one.

    `columns` is the order of the fields in recordings (CSV); `noun` and `plural` are what people call one event and
    several of them. `kept_anchors` are kept from the start, whether a rule needs them or not. `parties` may be grouped
    by as fields may; each is an anchor beside the declared ones.
    """

    name: str
    version: int
    fields: tuple[Field, ...]
    anchors: tuple[str, ...]
    columns: tuple[str, ...] = ()
    noun: str = "transaction"
    plural: str = "transactions"
    kept_anchors: tuple[str, ...] = ()
    parties: tuple[Party, ...] = ()

    @property
    def id_field(self) -> Field:
        """The one field that identifies an event."""
        return next(f for f in self.fields if f.role == "id")

    @property
    def time_field(self) -> Field:
        """The one field that windows use."""
        return next(f for f in self.fields if f.role == "time" and not f.ingestion)

    @property
    def ingestion_field(self) -> Field | None:
        """The time at which the event entered, if the type declares one."""
        return next((f for f in self.fields if f.ingestion), None)

    @property
    def groupable(self) -> tuple[str, ...]:
        """Canonical names of the fields that rules may group by, in declared order."""
        return tuple(f.name for f in self.fields if f.groupable)

    @property
    def groupings(self) -> tuple[str, ...]:
        """What rules may group by: the groupable fields, then the parties."""
        return (*self.groupable, *(party.name for party in self.parties))

    @property
    def all_anchors(self) -> tuple[str, ...]:
        """The declared anchors, then the parties."""
        return (*self.anchors, *(party.name for party in self.parties))

    @property
    def sides(self) -> tuple[str, ...]:
        """The names of all parties' sides, each once."""
        return tuple(dict.fromkeys(name for party in self.parties for name in party.side_names))

    @property
    def measures(self) -> tuple[str, ...]:
        """Canonical names of the fields that rules may aggregate, in declared order."""
        return tuple(f.name for f in self.fields if f.role == "measure")

    @property
    def positions(self) -> tuple[str, ...]:
        """Canonical names of the fields that are positions, in declared order."""
        return tuple(f.name for f in self.fields if f.kind == "position")

    @property
    def identity(self) -> dict[str, object]:
        """As JSON, what data that was made under the type depends on: with another one it cannot be read."""
        fields = [f"{f.name} {f.role} {f.kind}" for f in self.fields]
        kept = {"keptAnchors": sorted(self.kept_anchors)} if self.kept_anchors else {}
        anchors = list(self.anchors)
        parties = {"parties": self.party_fields} if self.parties else {}
        return (
            {"name": self.name, "version": self.version, "anchors": anchors, "fields": fields}
            | kept
            | parties
        )

    @property
    def party_fields(self) -> dict[str, dict[str, str]]:
        """The parties as they are declared: by name, of each side its field."""
        return {party.name: {side.name: side.field for side in party.sides} for party in self.parties}

    def party(self, name: str) -> Party | None:
        """The party of exactly that name."""
        return next((party for party in self.parties if party.name == name), None)

    def find_grouping(self, spelling: str) -> str | None:
        """The canonical name of what rules may group by, in any case; None if there is none."""
        field = self.find(spelling)
        if field is not None:
            return field.name if field.groupable else None
        folded = spelling.casefold()
        return next((party.name for party in self.parties if party.name.casefold() == folded), None)

    def field(self, name_or_alias: str) -> Field:
        """The field of that exact name or alias; UnknownField otherwise."""
        for field in self.fields:
            if name_or_alias in field.names:
                return field
        raise UnknownField(f"{self.name} has no field {name_or_alias!r}")

    def find(self, spelling: str) -> Field | None:
        """Like `field` but in any case, as rules in the wild spell names; None if there is none."""
        folded = spelling.casefold()
        for field in self.fields:
            if any(name.casefold() == folded for name in field.names):
                return field
        return None
