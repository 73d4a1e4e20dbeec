"""Events of named lists and parameters, read strictly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tripline_contracts import decimals
from tripline_contracts.filters.list_entries import read_change
from tripline_contracts.filters.named_values import read_list, read_name, read_parameter
from tripline_engine.domain.rules.list_history import Numbers
from tripline_engine.domain.rules.named_values import NamedValues

NAMED_EVENTS: Final = ("ListChanged", "ListEntriesChanged", "ParameterChanged")


def apply_named(named: NamedValues, event: Mapping[str, Any], accepted: Numbers) -> None:
    """Have the event, one of NAMED_EVENTS, count from now on; `accepted`: by anchor, what came before.

    Raises LookupError or ContractError, and then changes nothing.
    """
    name = read_name(event["name"])
    if event["type"] == "ListChanged":
        named.change_list(name, [("replace", read_list(event["values"]))], accepted)
    elif event["type"] == "ListEntriesChanged":
        entries = read_change(event["added"], event["removed"])
        values = [entry.value for entry in entries.added]
        named.change_list(name, [("add", values), ("remove", entries.removed)], accepted)
    else:
        named.set_parameter(name, decimals.to_scaled(read_parameter(event["value"])), accepted)
