"""Makes the services' database users: `python -m tripline_demo.deployment.login_users FOLDER`.

The migrations make group roles that nobody can log in as. This makes a login user in each, with the password in that
user's passfile in FOLDER; run again, it sets the passwords anew. TRIPLINE_MIGRATIONS_DSN says where, and as whom.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import psycopg
from environs import Env, EnvError

from tripline_demo import logins
from tripline_demo.deployment import passfiles
from tripline_demo.errors import DemoError
from tripline_demo.groups import GROUPS, login_of
from tripline_http.database_address import ALLOW_UNVERIFIED, checked_dsn
from tripline_http.errors import ConfigurationError


def make(admin_dsn: str, folder: Path) -> None:
    """Raises DemoError when a file or a group role is missing, or the database does not let us."""
    passwords = {group: passfiles.password_of(folder, login_of(group)) for group in GROUPS}
    try:
        logins.ensure_logins(admin_dsn, passwords)
    except psycopg.Error as refused:
        raise DemoError(f"The login users could not be made: {str(refused).strip()}") from refused


def main(arguments: list[str]) -> int:
    """The one-shot process."""
    dsn = os.environ.get("TRIPLINE_MIGRATIONS_DSN")
    if not dsn or len(arguments) != 1:
        print(
            "Set TRIPLINE_MIGRATIONS_DSN to the migrated database, as a user who may create users, and name the "
            "folder of passfiles.",
            file=sys.stderr,
        )
        return 2
    try:
        checked_dsn("TRIPLINE_MIGRATIONS_DSN", dsn, allow_unverified=Env().bool(ALLOW_UNVERIFIED, False))
        make(dsn, Path(arguments[0]))
    except (DemoError, ConfigurationError, EnvError) as failure:
        print(failure, file=sys.stderr)
        return 1
    print(f"{len(GROUPS)} login users are there.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
