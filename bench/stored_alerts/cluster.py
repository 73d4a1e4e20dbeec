"""The database with many alerts: for one run, or in a folder that is kept: to fill it takes as long as to measure."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg

from bench.harness.stack import BenchFailed
from bench.stored_alerts import filling
from tripline_demo import closed_files, logins, migrations, paths
from tripline_demo.embedded import postgres

_DATABASE: Final = "bench"
_PASSWORD: Final = "superuser"
_FILLED: Final = "filled"
"""A file that says that all is there: indexes, cases and statistics come after the alerts."""
# Of who fills, and of nobody who measures.
_FILLING: Final = (
    *postgres.THROWAWAY, "wal_level=minimal", "max_wal_senders=0", "max_wal_size=16GB", "checkpoint_timeout=30min",
    "shared_buffers=2GB", "maintenance_work_mem=1GB", "work_mem=512MB", "autovacuum=off",
)  # fmt: skip


@contextmanager
def filled(total: int, folder: Path | None) -> Iterator[str]:
    """The superuser's DSN of a database with so many alerts. It is measured with the settings of an installation: with
    fsync, and with that much memory."""
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="tripline-bench-", dir=paths.var_folder()) as name:
            _fill(Path(name) / "postgres", total)
            with _running(Path(name) / "postgres") as owner:
                yield owner
        return
    home = folder.resolve()
    if not (home / _FILLED).exists():
        if home.exists() and any(home.iterdir()):
            raise BenchFailed(
                f"{home} is not filled to its end, or something else: remove it, or name another one"
            )
        _fill(home, total)
    with _running(home) as owner:
        migrations.upgrade(owner)
        _check(owner, total)
        yield owner


@contextmanager
def _running(home: Path, settings: tuple[str, ...] = postgres.INSTALLED) -> Iterator[str]:
    password = home / _PASSWORD
    with postgres.running(home, settings, password=password.read_text(encoding="utf-8")) as cluster:
        yield cluster.dsn(_DATABASE)


def _fill(home: Path, total: int) -> None:
    home.mkdir(parents=True, exist_ok=True)
    closed_files.write(home / _PASSWORD, secrets.token_urlsafe(24))
    with _running(home, _FILLING) as owner:
        logins.ensure_database(owner.replace(f"/{_DATABASE}", "/postgres"), _DATABASE)
        migrations.upgrade(owner)
        filling.partition(owner)
        filling.fill(owner, total)
    (home / _FILLED).touch()


def _check(owner: str, total: int) -> None:
    with psycopg.connect(owner) as connection:
        rows = connection.execute(
            "SELECT sum(open_count + acknowledged_count) FROM alerts.alert_counts"
        ).fetchall()
    kept = int(rows[0][0] or 0)
    if kept < total:
        raise BenchFailed(f"the folder has {kept:,} alerts: name another one, or ask for as many")
