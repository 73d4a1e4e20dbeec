"""The one screen at the end of a start, and the table of `tripline status`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tripline_demo.stack.places import Places
from tripline_demo.stack.supervisor import State

_ADDRESSES = (
    ("console", "Console"), ("rulesRegistry", "Rules registry"), ("alertApi", "Alert API"),
    ("generator", "Traffic generator"), ("kafka", "Kafka"), ("postgres", "PostgreSQL"),
)  # fmt: skip


def show_running(console: Console, stack: Mapping[str, Any], places: Places, how_to_stop: str) -> None:
    """Addresses, the file of the keys, how to stop. Plain lines: whatever the width, an address can be copied whole.

    No key: a terminal's history and a log file of the start may be open to others, the file is not.
    """
    console.rule("Tripline is running", style="green")
    for name, title in _ADDRESSES:
        _line(console, title, _without_password(str(stack[name])))
    _line(
        console,
        "API keys",
        f"{places.stack_file} ({', '.join(stack['apiKeys'])}), readable by its owner only",
    )
    _line(console, "Logs", str(places.logs))
    _line(console, "To stop", how_to_stop)
    console.rule(style="green")


def _line(console: Console, title: str, text: str) -> None:
    console.print(f"  [bold]{title:<22}[/]{escape(text)}", highlight=False, soft_wrap=True)


def _without_password(address: str) -> str:
    scheme, separator, rest = address.partition("://")
    if "@" not in rest:
        return address
    credentials, _, host = rest.partition("@")
    return f"{scheme}{separator}{credentials.partition(':')[0]}@{host}"


def show_states(console: Console, states: Sequence[State]) -> None:
    """One line per process."""
    table = Table("process", "state", "pid", "running for", box=None, pad_edge=False)
    for state in states:
        finished = state.status == "EXITED" and state.exit_status == 0
        colour = "green" if state.status == "RUNNING" else "dim" if finished else "red"
        table.add_row(
            state.name, f"[{colour}]{'done' if finished else state.status.lower()}[/]",
            str(state.pid or ""), f"{int(time.time()) - state.since} s" if state.pid else "",
        )  # fmt: skip
    console.print(table)


def is_healthy(states: Sequence[State]) -> bool:
    """Whether everything runs that should, and the one-shot processes ended well."""
    return bool(states) and all(
        state.status == "RUNNING" or (state.status == "EXITED" and state.exit_status == 0) for state in states
    )
