"""RFC 8785 canonical JSON, the two identities made of it, and the bucket of a group."""

from __future__ import annotations

import hashlib
import uuid

from tests.oracle.values.errors import OracleError
from tests.oracle.values.model import Json

_ALERTS = uuid.uuid5(uuid.NAMESPACE_URL, "urn:tripline:alert")
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
# Beyond it RFC 8785 would have to print a double.
_LARGEST = 2**53 - 1


def canonical(value: Json) -> str:
    """The RFC 8785 text; OracleError for an integer that a double cannot hold."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if abs(value) > _LARGEST:
            raise OracleError(f"{value} has no canonical form here")
        return str(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
    return "{" + ",".join(f"{_string(name)}:{canonical(item)}" for name, item in members) + "}"


def _string(text: str) -> str:
    return '"' + "".join(_character(character) for character in text) + '"'


def _character(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    return f"\\u{ord(character):04x}" if character < " " else character


def definition_hash(definition: Json) -> str:
    """Hex SHA-256 of the definition's canonical JSON."""
    return hashlib.sha256(canonical(definition).encode("utf-8")).hexdigest()


def bucket(rule_id: int, group: dict[str, str]) -> int:
    """In which of a hundred parts of a rule's groups that one is."""
    digest = hashlib.sha256(f"{rule_id}:{canonical(dict(group))}".encode()).hexdigest()
    return int(digest[:16], 16) % 100


def alert_id(
    rule_id: int,
    version: int,
    group: dict[str, str],
    transaction_id: str,
    event_time: int,
    side: str | None = None,
) -> str:
    """The alert's UUIDv5, the same wherever and however often it is computed."""
    name: list[Json] = [rule_id, version, dict(group), transaction_id, event_time]
    if side is not None:
        name.append(side)
    return str(uuid.uuid5(_ALERTS, canonical(name)))
