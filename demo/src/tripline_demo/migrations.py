"""Runs the database migrations of the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tripline_demo import paths
from tripline_demo.errors import PostgresFailed

SECONDS = 3600


def command(revision: str = "head") -> list[str]:
    """Alembic in this Python environment; to be run in the checkout's `migrations` folder."""
    return [sys.executable, "-m", "alembic", "upgrade", revision]


def folder() -> Path:
    """The path of alembic.ini."""
    return paths.project_root() / "migrations"


def upgrade(admin_dsn: str, revision: str = "head") -> None:
    """Brings a database to a revision, the newest one. Raises PostgresFailed with alembic's last words."""
    done = subprocess.run(
        command(revision), cwd=folder(), env={**os.environ, "TRIPLINE_MIGRATIONS_DSN": admin_dsn},
        capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise PostgresFailed(f"The migrations failed: {done.stderr.strip()[-800:]}")
