"""Makes the database ready: creates it, runs the migrations, makes the login users.

`python -m tripline_demo.stack.database VAR`, with the superuser's DSN in TRIPLINE_MIGRATIONS_DSN.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

from tripline_demo import logins, migrations
from tripline_demo.errors import DemoError
from tripline_demo.stack import credentials
from tripline_demo.stack.places import Places


def prepare(admin_dsn: str, places: Places) -> None:
    """Idempotent: what is there already stays. Raises PostgresFailed when a migration fails."""
    logins.ensure_database(
        logins.with_database(admin_dsn, "postgres"), urlsplit(admin_dsn).path.removeprefix("/")
    )
    migrations.upgrade(admin_dsn)
    logins.ensure_logins(admin_dsn, credentials.load_or_make(places).postgres_logins)


def main() -> int:
    """The one-shot process of the stack."""
    try:
        prepare(os.environ["TRIPLINE_MIGRATIONS_DSN"], Places(Path(sys.argv[1])))
    except DemoError as failure:
        print(failure, file=sys.stderr)
        return 1
    print("The database is up to date.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
