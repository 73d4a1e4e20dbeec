"""Alerts as Postgres has them."""

from __future__ import annotations

from typing import Any

import psycopg


def stored_alerts(dsn: str) -> list[dict[str, Any]]:
    """The content of all alerts in the database, without the time of detection."""
    with psycopg.connect(dsn) as connection:
        contents = [content for (content,) in connection.execute("SELECT content FROM alerts.alerts")]
    for content in contents:
        del content["detectedAt"]
    return contents


def stored_names(dsn: str) -> dict[str, int]:
    """How many alerts each rule has raised, by the rule's name."""
    query = "SELECT content->>'ruleName', count(*) FROM alerts.alerts GROUP BY 1"
    with psycopg.connect(dsn) as connection:
        return dict(connection.execute(query).fetchall())
