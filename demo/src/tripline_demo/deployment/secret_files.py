"""Makes the secrets of a deployment with containers: random passwords and keys, a file each, in a closed folder.

`python -m tripline_demo.deployment.secret_files FOLDER ENV_FILE`. What is there already stays as it is. ENV_FILE is
what `docker compose` reads its variables from: it is told whom the containers run as, which is the owner of these
files, and the group that may read what images with a user of their own need.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path

from tripline_demo import closed_files, evidence_keys, kafka_passwords
from tripline_demo.deployment import passfiles
from tripline_demo.deployment.certificates import certify
from tripline_demo.embedded.broker_security import BrokerSecurity, Tls, jaas
from tripline_demo.groups import GROUPS, login_of
from tripline_demo.stack.credentials import GUARD, ROLES, guard_entry, key_file, new_key

ADMIN = "tripline_admin"
USER_VARIABLE, GROUP_VARIABLE = "TRIPLINE_USER", "TRIPLINE_GROUP"
INSTEAD_OF_ROOT = 10001
"""Containers do not run as root, so files that root makes are given to this user."""

ADMIN_PASSWORD = f"{ADMIN}.password"
KEYS = "api-keys.json"
CLEAR_KEYS = "api-keys.clear.json"
"""For people; no container is given this one."""
GUARD_KEY = "guard.key"

KAFKA_JAAS, KAFKA_BROKER, KAFKA_AUTHORITY = "kafka_jaas.conf", "kafka_broker.pem", "kafka_authority.pem"
BROKER_NAMES = ("kafka", "localhost", "127.0.0.1")
"""What the broker's certificate is for. Clients elsewhere need another one, with the name that they use."""

PROVER_KEY = "prover.key"
"""The alert API asks the prover with it."""

WEBHOOK_KEY = "webhook.key"
"""Alert API and notifier seal the secrets of webhooks with it."""

EVIDENCE_KEY = "evidence-key.pem"
"""The alert API signs evidence with it."""

FOR_THE_GROUP = frozenset(
    {KAFKA_JAAS, KAFKA_BROKER, KAFKA_AUTHORITY, PROVER_KEY}
    | {kafka_passwords.file_name(f"tripline-{name}") for name in ("engine", "archiver", "prover")}
)
"""Read by containers that run as their image's own user: Kafka, engine, archiver, prover."""


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
    clear = {name: new_key() for name in ROLES}
    _keep(folder / CLEAR_KEYS, json.dumps(clear, indent=2) + "\n", owner)
    known = json.loads((folder / CLEAR_KEYS).read_text(encoding="utf-8"))
    _keep(folder / KEYS, json.dumps(key_file(known), indent=2) + "\n", owner)
    _keep(folder / PROVER_KEY, secrets.token_urlsafe(32) + "\n", owner)
    _keep(folder / WEBHOOK_KEY, secrets.token_urlsafe(32) + "\n", owner)
    _keep(folder / EVIDENCE_KEY, evidence_keys.new_private_key(), owner)
    if not (folder / GUARD_KEY).exists():
        _let_guard_in(folder, new_key(), owner)
    _make_kafka_files(folder, owner)
    if os.geteuid() == 0:
        os.chown(folder, owner.uid, owner.gid)
    return sorted({path.name for path in folder.iterdir()} - before)


def broker_security(folder: Path) -> BrokerSecurity:
    """What a broker with the secrets of that folder asks for."""
    tls = Tls(folder / KAFKA_BROKER, folder / KAFKA_AUTHORITY)
    admin = folder / kafka_passwords.file_name(kafka_passwords.ADMIN)
    return BrokerSecurity(folder / KAFKA_JAAS, admin, tls)


def _make_kafka_files(folder: Path, owner: Owner) -> None:
    for name in kafka_passwords.names():
        _keep(folder / kafka_passwords.file_name(name), kafka_passwords.new_password(), owner)
    admin = kafka_passwords.password_of(folder, kafka_passwords.ADMIN)
    _keep(folder / KAFKA_JAAS, jaas(admin, kafka_passwords.new_password()), owner)
    if not (folder / KAFKA_BROKER).exists() or not (folder / KAFKA_AUTHORITY).exists():
        certified = certify(BROKER_NAMES, dt.datetime.now(dt.UTC))
        for name, text in (
            (KAFKA_BROKER, certified.key_and_certificate),
            (KAFKA_AUTHORITY, certified.authority),
        ):
            (folder / name).unlink(missing_ok=True)
            _keep(folder / name, text, owner)


def name_owner(env_file: Path, owner: Owner) -> None:
    """Sets TRIPLINE_USER and TRIPLINE_GROUP in the file, unless a line of it does."""
    lines = env_file.read_text(encoding="utf-8").splitlines() if env_file.exists() else []
    wanted = {USER_VARIABLE: str(owner), GROUP_VARIABLE: str(owner.gid)}
    missing = [
        f"{name}={value}"
        for name, value in wanted.items()
        if not any(line.startswith(f"{name}=") for line in lines)
    ]
    if missing:
        lines += missing
        env_file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _let_guard_in(folder: Path, key: str, owner: Owner) -> None:
    """Keeps the guard's key, and adds it to the file of keys: that may be of a release that had no guard, and have
    entries of its owner's."""
    entries = json.loads((folder / KEYS).read_text(encoding="utf-8"))
    others = [entry for entry in entries if entry.get("name") != GUARD]
    _write(folder / KEYS, json.dumps([*others, guard_entry(key)], indent=2) + "\n", owner)
    _write(folder / GUARD_KEY, key + "\n", owner)


def _keep(path: Path, text: str, owner: Owner) -> None:
    """Writes a file if there is none."""
    if not path.exists():
        _write(path, text, owner)


def _write(path: Path, text: str, owner: Owner) -> None:
    """A file that only its owner can read, or who else its name is listed for."""
    owned = {"uid": owner.uid, "gid": owner.gid} if os.geteuid() == 0 else {}
    closed_files.write(path, text, mode=0o640 if path.name in FOR_THE_GROUP else 0o600, **owned)


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
