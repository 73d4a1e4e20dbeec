"""A password file for each identity of the Kafka cluster, its administrator included."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Final

from tripline_contracts.kafka import access as kafka_access

ADMIN: Final = "tripline-admin"
"""Makes topics, identities and their rights; a super user of the embedded broker and of compose's."""


def names() -> tuple[str, ...]:
    """The administrator and all identities of the contract."""
    return (ADMIN, *(identity.name for identity in kafka_access.identities()))


def file_name(identity: str) -> str:
    """Of its password, in a folder of secrets."""
    return f"kafka_{identity}.password"


def new_password() -> str:
    """192 random bits, in characters that every client takes as they are."""
    return secrets.token_urlsafe(24)


def password_of(folder: Path, identity: str) -> str:
    """Raises OSError."""
    return (folder / file_name(identity)).read_text(encoding="ascii")
