"""Password files as libpq reads them: one file per database user, for any server.

libpq takes a passfile only if nobody but its owner can read it, so who runs a service must own its file.
"""

from __future__ import annotations

from pathlib import Path

from tripline_demo.errors import DemoError


def name_of(user: str) -> str:
    """The name of a user's file."""
    return f"{user}.pgpass"


def line_of(user: str, password: str) -> str:
    """The content of a password file. Neither part may hold a colon or a backslash."""
    return f"*:*:*:{user}:{password}\n"


def password_of(folder: Path, user: str) -> str:
    """The password in a user's file. Raises DemoError when the file is not there, or is not one of these."""
    path = folder / name_of(user)
    try:
        fields = path.read_text(encoding="utf-8").rstrip("\n").split(":")
    except OSError as missing:
        raise DemoError(f"{path} cannot be read: {missing.strerror}.") from missing
    if len(fields) != 5 or fields[3] != user or not fields[4]:
        raise DemoError(
            f"{path} is not the password file of {user}: expected one line *:*:*:{user}:PASSWORD."
        )
    return fields[4]
