"""var/stack.json: addresses and keys for scripts, and the same for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tripline_demo.stack.credentials import write_private
from tripline_demo.stack.places import Places
from tripline_demo.stack.plan import DATABASE, Plan


def content(plan: Plan) -> dict[str, Any]:
    """The content of the file; `postgres` is the superuser's DSN of Tripline's database.

    `kafkaAdministrator` are the variables of a process that may do everything in Kafka.
    """
    return {
        "eventType": plan.event_type,
        "kafka": plan.broker.bootstrap_servers,
        "kafkaAdministrator": plan.broker.administrator.variables(),
        "postgres": plan.cluster.dsn(DATABASE),
        "rulesRegistry": plan.url("registry"),
        "alertApi": plan.url("alert-api"),
        "console": plan.url("alert-api") + "/",
        "generator": plan.url("generator"),
        "apiKeys": dict(plan.credentials.api_keys),
    }


def write(places: Places, stack: Mapping[str, Any]) -> None:
    """Only its owner may read it: it holds keys."""
    write_private(places.stack_file, stack)


def read(places: Places) -> dict[str, Any] | None:
    """The file, or None when there is none."""
    try:
        described = json.loads(places.stack_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return described if isinstance(described, dict) else None
