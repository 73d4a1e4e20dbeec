"""The stack's secrets: made at the first start, kept for the next ones, readable by their owner only."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tripline_demo import closed_files, evidence_keys, kafka_passwords
from tripline_demo.embedded import broker_security
from tripline_demo.groups import GROUPS
from tripline_demo.stack.places import Places

ROLES: Mapping[str, str] = {
    "viewer": "viewer",
    "analyst": "analyst",
    "second-analyst": "analyst",
    "approver": "approver",
    "admin": "admin",
    "auditor": "auditor",
    "ops": "operator",
}
"""The role of each key of the stack. Two analysts, so that one can be too late to acknowledge."""
GUARD: Final = "guard"
_OF_GUARD: Final = ("alerts:read", "rules:read", "rules:write")
"""All that the guard of changed rules has to do: count alerts, look at rules, ask that one be paused."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Clear texts: the superuser's password, a password per database group role, a key per API user and the guard's,
    which is nobody's to sign in with."""

    postgres_admin: str = field(repr=False)
    postgres_logins: Mapping[str, str] = field(repr=False)
    api_keys: Mapping[str, str] = field(repr=False)
    guard_key: str = field(repr=False)


def load_or_make(places: Places) -> Credentials:
    """The secrets of the last start, or new ones; also writes the services' file of key hashes."""
    path = places.run / "credentials.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    credentials = Credentials(
        postgres_admin=known.get("postgresAdmin") or secrets.token_urlsafe(24),
        postgres_logins=_complete(known.get("postgresLogins", {}), GROUPS, ""),
        api_keys=_complete(known.get("apiKeys", {}), tuple(ROLES), "tk_"),
        guard_key=known.get("guardKey") or new_key(),
    )
    write_private(
        path,
        {
            "postgresAdmin": credentials.postgres_admin,
            "postgresLogins": credentials.postgres_logins,
            "apiKeys": credentials.api_keys,
            "guardKey": credentials.guard_key,
        },
    )
    write_private(places.api_keys, [*key_file(credentials.api_keys), guard_entry(credentials.guard_key)])
    closed_files.write(places.guard_key, credentials.guard_key + "\n")
    if not places.prover_key.exists():
        closed_files.write(places.prover_key, secrets.token_urlsafe(32) + "\n")
    if not places.webhook_key.exists():
        closed_files.write(places.webhook_key, secrets.token_urlsafe(32) + "\n")
    if not places.evidence_key.exists():
        closed_files.write(places.evidence_key, evidence_keys.new_private_key())
    _write_kafka_files(places)
    return credentials


def _write_kafka_files(places: Places) -> None:
    """A password for each identity of Kafka, kept where it is there, in a file that clients read it from."""
    for name in kafka_passwords.names():
        path = places.run / kafka_passwords.file_name(name)
        if not path.exists():
            closed_files.write(path, kafka_passwords.new_password())
    admin = kafka_passwords.password_of(places.run, kafka_passwords.ADMIN)
    closed_files.write(places.kafka_jaas, broker_security.jaas(admin, kafka_passwords.new_password()))


def new_key() -> str:
    """An API key that nobody has."""
    return "tk_" + secrets.token_urlsafe(24)


def _complete(known: Mapping[str, str], names: tuple[str, ...], prefix: str) -> dict[str, str]:
    return {name: known.get(name) or prefix + secrets.token_urlsafe(24) for name in names}


def key_file(api_keys: Mapping[str, str]) -> list[dict[str, object]]:
    """The file of keys that services read: names, SHA-256 of the keys, roles; no clear text."""
    return [
        {"name": name, "sha256": hashlib.sha256(key.encode()).hexdigest(), "role": ROLES[name]}
        for name, key in api_keys.items()
    ]


def guard_entry(key: str) -> dict[str, object]:
    """The guard's entry in the file of keys: an analyst's that may do little of what analysts may."""
    digest = hashlib.sha256(key.encode()).hexdigest()
    return {"name": GUARD, "sha256": digest, "role": "analyst", "scopes": list(_OF_GUARD)}


def write_private(path: Path, content: object) -> None:
    """Writes JSON that nobody else can read, in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    closed_files.write(path, json.dumps(content, indent=2) + "\n")
