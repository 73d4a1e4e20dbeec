"""Rules that teams begin with: of each shipped event type a file, `rule_templates/<name>.yaml`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

import yaml

from tripline_contracts.event_type import EventType

_FOLDER: Final = resources.files("tripline_contracts") / "rule_templates"


@dataclass(frozen=True, slots=True)
class RuleTemplate:
    """A rule to begin with.

    :ivar template_id: lower case, words joined by `-`
    :ivar explanation: what it is against, in a sentence or two
    :ivar definition: the body of a rule, its name among it, as it could be published
    """

    template_id: str
    title: str
    explanation: str
    definition: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """As services answer it."""
        return {
            "templateId": self.template_id,
            "title": self.title,
            "explanation": self.explanation,
            "definition": dict(self.definition),
        }


def templates_of(event_type: EventType) -> tuple[RuleTemplate, ...]:
    """The templates of a type; none of one that was declared elsewhere."""
    return _read(event_type.name)


@functools.cache
def _read(name: str) -> tuple[RuleTemplate, ...]:
    file = _FOLDER / f"{name}.yaml"
    if not file.is_file():
        return ()
    return tuple(
        RuleTemplate(item["id"], item["title"], item["explanation"], item["definition"])
        for item in yaml.safe_load(file.read_text(encoding="utf-8"))
    )
