"""The event type of this installation: how every process reads `TRIPLINE_EVENT_TYPE`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import yaml

from tripline_contracts import event_type, event_type_loader
from tripline_contracts.errors import InvalidEventType, UnknownEventType
from tripline_contracts.event_type import EventType

SETTING: Final = "TRIPLINE_EVENT_TYPE"


def installed(value: str) -> EventType:
    """The event type of a setting's value: the name of one that ships, or the path of a YAML file of the same form.

    Nothing is the default. Raises UnknownEventType and InvalidEventType with a sentence that names the setting.
    """
    value = value.strip() or event_type.DEFAULT
    if value in event_type_loader.shipped():
        return event_type_loader.load(value)
    if not is_path(value):
        raise UnknownEventType(
            f"{SETTING} is {value}: expected {', '.join(event_type_loader.shipped())}, or the path of a YAML file"
            " (with a /, or .yaml at its end)."
        )
    try:
        return declared(Path(value))
    except InvalidEventType as error:
        raise InvalidEventType(f"{SETTING} is {value}: {error}.") from error


def is_path(value: str) -> bool:
    """True for a value that is the path of a file, not a name."""
    return "/" in value or value.endswith((".yaml", ".yml"))


def declared(file: Path) -> EventType:
    """The event type that a YAML file declares. Raises InvalidEventType saying what is wrong with it."""
    try:
        loaded = event_type_loader.from_mapping(yaml.safe_load(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise InvalidEventType(f"the file cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InvalidEventType("the file is not UTF-8") from error
    except yaml.YAMLError as error:
        raise InvalidEventType(f"the file is not YAML ({' '.join(str(error).split())[:200]})") from error
    if loaded.name in event_type_loader.shipped() and loaded != event_type_loader.load(loaded.name):
        raise InvalidEventType(
            f"{loaded.name} is the name of one that ships with other fields; choose another"
        )
    return loaded
