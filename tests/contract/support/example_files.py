"""The contracts' example files by topic, and the event type that each belongs to."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from tripline_contracts import (
    event_type_loader,
    exact_json,
    topics,
)
from tripline_contracts.event_type import EventType

PACKAGE = Path(str(resources.files("tripline_contracts")))
EXAMPLES = PACKAGE / "examples"
TRANSACTION = event_type_loader.load()
BY_NAME = {topic.name: topic for topic in topics.all_topics()}
TYPES = [event_type_loader.load(name) for name in event_type_loader.shipped()]
_TRANSFERS = PACKAGE / "rule_templates" / "catalogue" / "event-types" / "account-transfer.yaml"
TRANSFERS = event_type_loader.from_mapping(yaml.safe_load(_TRANSFERS.read_text(encoding="utf-8")))
"""Of the catalogue of rules: the type that has positions."""
EXAMPLE_TYPES = [*TYPES, TRANSFERS]


def folder_of(declared: EventType) -> Path:
    """Of its examples, a folder for each topic: the default's are the first ones."""
    return EXAMPLES if declared == TRANSACTION else EXAMPLES / declared.name


def example_files(kind: str) -> list[Path]:
    folders = [folder_of(declared) / topic for declared in EXAMPLE_TYPES for topic in BY_NAME]
    return sorted(path for folder in folders for path in folder.glob(kind))


def type_of(path: Path) -> EventType:
    """Of the example in that file."""
    first = path.relative_to(EXAMPLES).parts[0]
    return next((declared for declared in EXAMPLE_TYPES if declared.name == first), TRANSACTION)


def examples_of(topic: str) -> list[Path]:
    return [path for path in example_files("*.json") if path.parent.name == topic]


def example_id(path: Path) -> str:
    return f"{path.relative_to(EXAMPLES)}"


def read_example(path: Path) -> Any:
    return exact_json.loads(path.read_bytes())
