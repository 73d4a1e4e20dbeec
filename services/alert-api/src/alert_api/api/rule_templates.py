"""Templates of the console's rule form: rules that people write again and again, of one event type.

They are found by the name of the type, as `templates/<name>.json`: a title, and what differs from the blank rule.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from tripline_contracts.event_type import EventType


def rule_templates(event_type: EventType) -> list[dict[str, Any]]:
    """The templates of this type; none of one that was declared elsewhere."""
    file = resources.files("alert_api").joinpath("templates", f"{event_type.name}.json")
    templates: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    return templates
