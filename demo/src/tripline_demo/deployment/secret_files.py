"""Makes the secrets of a deployment with containers: random passwords and keys, a file each, in a closed folder.

`python3 -m tripline_demo.deployment.secret_files FOLDER ENV_FILE`, with nothing but the standard library. What is there
already stays as it is. ENV_FILE is what `docker compose` reads its variables from: it is told whom the containers run
as, which is the owner of these files.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path

from tripline_demo.deployment import passfiles
from tripline_demo.groups import GROUPS, login_of
from tripline_demo.stack.credentials import SCOPES, key_file

ADMIN = "tripline_admin"
USER_VARIABLE = "TRIPLINE_USER"
INSTEAD_OF_ROOT = 10001
"""Containers do not run as root, so files that root makes are given to this user."""

ADMIN_PASSWORD = f"{ADMIN}.password"
KEYS = "api-keys.json"
CLEAR_KEYS = "api-keys.clear.json"
"""For people; no container is given this one."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whom the files belong to."""

    uid: int
    gid: int

    def __str__(self) -> str:
        return f"{self.uid}:{self.gid}"


def owner_here() -> Owner:
    """Who runs this, or somebody without rights in the place of root."""
    if os.geteuid() == 0:
        return Owner(INSTEAD_OF_ROOT, INSTEAD_OF_ROOT)
    return Owner(os.geteuid(), os.getegid())


def make(folder: Path, owner: Owner) -> list[str]:
    """Makes what is missing; returns the names of the new files. Raises DemoError for a file that it cannot read."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    before = {path.name for path in folder.iterdir()}
    for user in (ADMIN, *map(login_of, GROUPS)):
        _keep(folder / passfiles.name_of(user), passfiles.line_of(user, secrets.token_urlsafe(24)), owner)
    # The image of Postgres wants the bare password.
    _keep(folder / ADMIN_PASSWORD, passfiles.password_of(folder, ADMIN), owner)
    clear = {name: f"tk_{secrets.token_urlsafe(24)}" for name in SCOPES}
    _keep(folder / CLEAR_KEYS, json.dumps(clear, indent=2) + "\n", owner)
    known = json.loads((folder / CLEAR_KEYS).read_text(encoding="utf-8"))
    _keep(folder / KEYS, json.dumps(key_file(known), indent=2) + "\n", owner)
    if os.geteuid() == 0:
        os.chown(folder, owner.uid, owner.gid)
    return sorted({path.name for path in folder.iterdir()} - before)


def name_owner(env_file: Path, owner: Owner) -> None:
    """Sets TRIPLINE_USER in the file, unless a line of it does."""
    lines = env_file.read_text(encoding="utf-8").splitlines() if env_file.exists() else []
    if not any(line.startswith(f"{USER_VARIABLE}=") for line in lines):
        lines.append(f"{USER_VARIABLE}={owner}")
        env_file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _keep(path: Path, text: str, owner: Owner) -> None:
    """Writes a file that only its owner can read, if there is none."""
    if path.exists():
        return
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(
        os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
    ) as file:
        file.write(text)
    if os.geteuid() == 0:
        os.chown(fresh, owner.uid, owner.gid)
    fresh.replace(path)


def main(arguments: list[str]) -> int:
    """Makes them and says which."""
    folder, env_file = Path(arguments[0]), Path(arguments[1])
    owner = owner_here()
    made = make(folder, owner)
    name_owner(env_file, owner)
    print(f"{folder}: {len(made)} new files" if made else f"{folder}: everything is there", file=sys.stderr)
    print(f"The keys to sign in with are in {folder / CLEAR_KEYS}.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
