"""Rules that teams begin with: of each shipped event type a file, `rule_templates/<name>.yaml`, and the catalogue.

The catalogue (`rule_templates/catalogue/`) has a file for each rule of a list that others published, with a history
that trips it and a near miss.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

import yaml

from tripline_contracts.errors import InvalidDefinition
from tripline_contracts.event_type import EventType
from tripline_contracts.rules import rule_definition

_FOLDER: Final = resources.files("tripline_contracts") / "rule_templates"
_CATALOGUE: Final = _FOLDER / "catalogue"


@dataclass(frozen=True, slots=True)
class RuleTemplate:
    """A rule to begin with.

    :ivar template_id: lower case, words joined by `-`
    :ivar explanation: what it is against, in a sentence or two
    :ivar definition: the body of a rule, its name among it, as it could be published
    :ivar catalogue: its number in the list that others published; None if it is none of them
    """

    template_id: str
    title: str
    explanation: str
    definition: Mapping[str, Any]
    catalogue: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As services answer it."""
        return {
            "templateId": self.template_id,
            "title": self.title,
            "explanation": self.explanation,
            "definition": dict(self.definition),
            "catalogue": self.catalogue,
        }


@functools.cache
def templates_of(event_type: EventType) -> tuple[RuleTemplate, ...]:
    """The templates of a type, those of the catalogue last; of one that was declared elsewhere those of the catalogue
    that are for a type of that name and can be published under it."""
    offered = [entry.template for entry in catalogue() if _fits(entry, event_type)]
    return (*_read(event_type.name), *offered)


def _read(name: str) -> tuple[RuleTemplate, ...]:
    file = _FOLDER / f"{name}.yaml"
    if not file.is_file():
        return ()
    return tuple(map(_template, yaml.safe_load(file.read_text(encoding="utf-8"))))


def _template(item: Mapping[str, Any]) -> RuleTemplate:
    return RuleTemplate(
        item["id"], item["title"], item["explanation"], item["definition"], item.get("catalogue")
    )


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A rule of the catalogue.

    :ivar number: in the published list
    :ivar event_type: the name of the type that it is for
    :ivar trips: `events` of which some raise `alerts`, as the folder's README says
    :ivar misses: `events` that raise none
    """

    number: str
    event_type: str
    template: RuleTemplate
    trips: Mapping[str, Any]
    misses: Mapping[str, Any]


@functools.cache
def catalogue() -> tuple[CatalogueEntry, ...]:
    """All of it, by number."""
    files = sorted(
        (file for file in _CATALOGUE.iterdir() if file.name.endswith(".yaml")), key=lambda f: f.name
    )
    items = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files]
    return tuple(
        CatalogueEntry(item["catalogue"], item["eventType"], _template(item), item["trips"], item["misses"])
        for item in items
    )


def _fits(entry: CatalogueEntry, event_type: EventType) -> bool:
    if entry.event_type != event_type.name:
        return False
    body = {name: value for name, value in entry.template.definition.items() if name != "name"}
    try:
        rule_definition.parse(body, event_type)
    except InvalidDefinition:
        return False
    return True
