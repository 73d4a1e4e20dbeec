"""`python -m bench.alerts`: alerts stored and folded into episodes and cases by one projector, without Kafka.

Prints a table, writes var/alerts.json; exit code 1 if a bar is missed. Groups and times are drawn: some alerts begin an
episode, most go on with one, a few come late and join two.
"""

from __future__ import annotations

import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click
import numpy as np
import psycopg
from rich.console import Console

from alert_api.adapters.postgres_intake import PostgresIntake
from bench.figures import results
from bench.stored_alerts.fresh_alerts import received
from tripline_demo import logins, migrations, paths
from tripline_demo.embedded import postgres
from tripline_demo.groups import login_of

_BAR: Final = 2_000
_GROUP: Final = "tripline_alert_projector"
_RULES: Final = 50
_EPOCH: Final = 1_763_690_000_000
_PUBLISHED: Final = """
INSERT INTO registry.rule_events (position, event_id, type, rule_id, version, occurred_at, actor, body)
SELECT rule_id, gen_random_uuid(), 'RulePublished', rule_id, 1, 0, 'bench', '{}' FROM generate_series(1, %s) rule_id
"""


@click.command()
@click.option("--alerts", type=click.IntRange(1000), default=60_000, show_default=True)
@click.option("--groups", type=click.IntRange(1), default=5_000, show_default=True)
@click.option(
    "--batch", type=click.IntRange(1), default=500, show_default=True, help="Alerts of a transaction."
)
@click.option(
    "--contributors", type=click.IntRange(1, 100), default=20, show_default=True, help="Of each alert."
)
def main(*, alerts: int, groups: int, batch: int, contributors: int) -> None:
    """Measures how many a second."""
    drawn = [received(*choice, contributors) for choice in _draw(alerts, groups)]
    with _database() as dsn, PostgresIntake(dsn) as intake:
        intake.store(drawn[:batch], [])
        begin = time.monotonic()
        for first in range(batch, alerts, batch):
            intake.store(drawn[first : first + batch], [])
        rate = (alerts - batch) / (time.monotonic() - begin)
    measured = [results.at_least(f"alerts stored, {batch} at once", rate, "/s", _BAR)]
    results.show(measured, Console(width=150 if not sys.stdout.isatty() else None))
    results.write(measured, paths.var_folder() / "alerts.json")
    sys.exit(0 if all(result.ok for result in measured) else 1)


def _draw(alerts: int, groups: int) -> Iterator[tuple[int, int, int, int]]:
    """Number, rule, group and event time of each."""
    chance = np.random.default_rng(1)
    rules = chance.integers(1, _RULES + 1, alerts).tolist()
    chosen = (groups * chance.power(3, alerts)).astype(int).tolist()
    delays = chance.integers(0, 60_000, alerts).tolist()
    return (
        (number, rule, group, _EPOCH + 20 * number - delay)
        for number, rule, group, delay in zip(range(alerts), rules, chosen, delays, strict=True)
    )


@contextmanager
def _database() -> Iterator[str]:
    """The projector's DSN of a migrated database in a folder that goes with it."""
    with (
        tempfile.TemporaryDirectory(prefix="tripline-bench-") as folder,
        postgres.running(Path(folder) / "postgres") as cluster,
    ):
        name, password = f"bench_{secrets.token_hex(4)}", secrets.token_urlsafe(18)
        logins.ensure_database(cluster.dsn(), name)
        owner = cluster.dsn(name)
        migrations.upgrade(owner)
        with psycopg.connect(owner) as connection:
            connection.execute(_PUBLISHED, (_RULES,))
        logins.ensure_logins(owner, {_GROUP: password})
        yield logins.with_user(owner, login_of(_GROUP), password)


if __name__ == "__main__":
    main()
