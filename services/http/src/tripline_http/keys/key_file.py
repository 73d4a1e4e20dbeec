"""The file of API keys: `[{"name": "ada", "sha256": "<hex of the key>", "role": "analyst"}]`.

What a key may do is said by its role, by `scopes`, or by both: then it has those of the role's scopes that are listed.
A key may have an end: `"notAfter": "2027-01-31T00:00:00Z"`. The keys themselves are known to their holders only.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tripline_contracts import exact_json
from tripline_contracts.errors import InvalidJson
from tripline_http.errors import ConfigurationError
from tripline_http.keys.caller import ISSUER_PREFIX
from tripline_http.keys.roles import ROLES, SCOPES

_MEMBERS = frozenset({"name", "sha256", "role", "scopes", "notAfter"})
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_OF_NOTHING = hashlib.sha256(b"").hexdigest()
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_OPEN_MODES = stat.S_IWGRP | stat.S_IWOTH | stat.S_IROTH


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key by its hash. `not_after` is the last moment that it is good for, in seconds since the epoch; None: no
    end. `role` is None where the key has scopes and no role."""

    name: str
    sha256: str
    scopes: frozenset[str]
    not_after: float | None = None
    role: str | None = None


def load_api_keys(path: Path) -> tuple[ApiKey, ...]:
    """Reads the key file. Raises `ConfigurationError` with a sentence that names the entry, never its hash."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            entries = exact_json.loads(file.read())
    except (OSError, InvalidJson) as error:
        raise ConfigurationError(f"The API key file {path} cannot be read: {error}.") from error
    if mode & _OPEN_MODES:
        raise ConfigurationError(
            f"The API key file {path} has mode {stat.S_IMODE(mode):04o}: group and others must not write it, others "
            f"not read it. Set it to 0600, or to 0640 where a group reads it."
        )
    if not isinstance(entries, list):
        raise ConfigurationError(f"The API key file {path} must hold a JSON list.")
    keys = tuple(_parse_entry(path, index, entry) for index, entry in enumerate(entries))
    _refuse_twins(path, keys)
    return keys


def _refuse_twins(path: Path, keys: Sequence[ApiKey]) -> None:
    if len({key.name for key in keys}) != len(keys):
        raise ConfigurationError(f"The API key file {path} names an actor twice.")
    times = Counter(key.sha256 for key in keys)
    if twins := [key.name for key in keys if times[key.sha256] > 1]:
        # One key for two names: nobody could say which of them acted.
        raise ConfigurationError(f"The API key file {path} has equal keys for {', '.join(twins)}.")


def _parse_entry(path: Path, index: int, entry: object) -> ApiKey:
    where = f"Entry {index} of the API key file {path}"
    if not isinstance(entry, dict):
        raise ConfigurationError(f"{where} is not an object.")
    name, digest = entry.get("name"), entry.get("sha256")
    if not isinstance(name, str) or not 1 <= len(name) <= 64 or not name.isprintable():
        raise ConfigurationError(f"{where} needs a name of 1 to 64 printable characters.")
    where += f" ({name})"
    if name.lower().startswith(ISSUER_PREFIX):
        raise ConfigurationError(
            f"{where}: names of callers with a token begin with {ISSUER_PREFIX}, no key's does."
        )
    if unknown := sorted(set(entry) - _MEMBERS):
        # A misspelt notAfter would be a key without an end.
        raise ConfigurationError(
            f"{where} has unknown members: {', '.join(unknown)}; expected {', '.join(sorted(_MEMBERS))}."
        )
    if not isinstance(digest, str) or not _SHA256.fullmatch(digest.lower()):
        raise ConfigurationError(f"{where} needs sha256 as 64 hex digits.")
    if digest.lower() == _OF_NOTHING:
        raise ConfigurationError(f"{where} has the hash of an empty key.")
    role = _parse_role(where, entry)
    return ApiKey(name, digest.lower(), _parse_scopes(where, entry, role), _parse_end(where, entry), role)


def _parse_role(where: str, entry: dict[str, object]) -> str | None:
    if "role" not in entry:
        return None
    role = entry["role"]
    if not isinstance(role, str) or role not in ROLES:
        raise ConfigurationError(f"{where} needs one of these as its role: {', '.join(ROLES)}.")
    return role


def _parse_scopes(where: str, entry: dict[str, object], role: str | None) -> frozenset[str]:
    if role is not None and "scopes" not in entry:
        return ROLES[role]
    scopes = entry.get("scopes")
    if not isinstance(scopes, list) or not all(isinstance(scope, str) for scope in scopes):
        raise ConfigurationError(f"{where} needs a role or a list of scopes.")
    if unknown := sorted(set(scopes) - SCOPES):
        raise ConfigurationError(f"{where} has unknown scopes: {', '.join(unknown)}.")
    if role is not None and (more := sorted(set(scopes) - ROLES[role])):
        # A role says what its holder cannot do: scopes beside it may only take away.
        raise ConfigurationError(f"{where} has scopes that the role {role} has not: {', '.join(more)}.")
    return frozenset(scopes)


def _parse_end(where: str, entry: dict[str, object]) -> float | None:
    if "notAfter" not in entry:
        return None
    text = entry["notAfter"]
    try:
        if isinstance(text, str) and _RFC3339.fullmatch(text):
            return datetime.fromisoformat(text.upper()).timestamp()
    except (ValueError, OverflowError):
        pass
    raise ConfigurationError(f"{where} needs notAfter as a time of RFC 3339, like 2027-01-31T00:00:00Z.")
