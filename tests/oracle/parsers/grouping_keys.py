"""What groups: fields as they are, and amounts in steps (semantics 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from tests.oracle.values.decimals import plain, read_decimal, scaled
from tests.oracle.values.errors import Unreadable
from tests.oracle.values.event_types import current_type
from tests.oracle.values.model import Json
from tests.oracle.values.strict_json import Value, read_text


@dataclass(frozen=True, order=True, slots=True)
class Key:
    """A field that groups, with its step in millionths; 0 of a field as it is."""

    field: str
    step: int = 0

    @property
    def written(self) -> Json:
        """As a normalised definition writes it."""
        return {"field": self.field, "step": plain(self.step)} if self.step else self.field

    def value(self, fields: Mapping[str, str | None]) -> str | None:
        """What groups by it have in common, of a transaction with these fields as texts."""
        text = fields[self.field]
        if text is None or not self.step:
            return text
        return _begin(text, self.step)


@lru_cache(maxsize=10_000)  # a scan asks for each amount again and again
def _begin(amount: str, step: int) -> str:
    """Where the amount's step begins."""
    return plain(scaled(amount) // step * step)


def read_grouping(names: Value | None) -> tuple[Key, ...]:
    """The keys in name order, or Unreadable."""
    if not isinstance(names, list):
        raise Unreadable("groupingKeyNames is not a list")
    keys = [_key(name) for name in names]
    if len({key.field for key in keys}) != len(keys):
        raise Unreadable("repeated grouping key")
    return tuple(sorted(keys))


def _key(entry: Value) -> Key:
    if not isinstance(entry, dict):
        if isinstance(entry, str) and entry in current_type().parties:
            return Key(entry)
        return Key(groupable(entry))
    if entry.keys() != {"field", "step"}:
        raise Unreadable("a step of something else")
    field, step = groupable(entry["field"]), read_decimal(entry["step"], "step")
    if field != current_type().amount or step <= 0:
        raise Unreadable("no step")
    return Key(field, step)


def groupable(name: Value | None) -> str:
    """The field by that name, which groups, or Unreadable."""
    written = read_text(name, "field")
    field = current_type().aliases.get(written, written)
    if field not in current_type().groupable:
        raise Unreadable(f"{field} is no key")
    return field
