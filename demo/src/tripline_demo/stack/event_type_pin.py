"""The event type that a stack's data is pinned to: data of one type cannot be used under another.

The first start writes it down beside the ports; `--fresh` removes it with the data.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tripline_contracts import event_type_loader
from tripline_contracts.errors import ContractError
from tripline_contracts.event_type import DEFAULT, EventType
from tripline_contracts.installed import installed, is_path
from tripline_demo.errors import StackFailed
from tripline_demo.stack.places import Places


def setting_of(value: str) -> str:
    """TRIPLINE_EVENT_TYPE for processes that run elsewhere: paths are absolute."""
    value = value.strip() or DEFAULT
    return str(Path(value).absolute()) if is_path(value) else value


def declared_by(setting: str) -> EventType:
    """The event type of the setting. Raises StackFailed with a sentence."""
    try:
        return installed(setting)
    except ContractError as error:
        raise StackFailed(str(error)) from error


def check(places: Places, declared: EventType) -> None:
    """Raises StackFailed where there is data of another type."""
    held = _held(places)
    if held is None or held["identity"] == declared.identity:
        return
    name = held["identity"]["name"]
    of_this = f" as it was declared when it was made (version {held['identity']['version']})"
    raise StackFailed(
        f"The data in {places.var} is of the event type {name}{of_this if name == declared.name else ''}, and cannot be"
        f" used under {declared.name} version {declared.version}: start with EVENT_TYPE={held['setting']} as it was, or"
        " begin anew with FRESH=1."
    )


def hold(places: Places, setting: str, declared: EventType) -> None:
    """Writes down that the data is of this type from now on."""
    text = json.dumps({"setting": setting, "identity": declared.identity}, indent=2)
    places.event_type.write_text(text + "\n", encoding="utf-8")


def _held(places: Places) -> dict[str, Any] | None:
    """The recorded type; of data from before it was recorded, the default; None where there is no data."""
    if places.event_type.exists():
        pinned: dict[str, Any] = json.loads(places.event_type.read_text(encoding="utf-8"))
        return pinned
    if not places.kafka.exists():
        return None
    default = event_type_loader.load()
    return {"setting": default.name, "identity": default.identity}
