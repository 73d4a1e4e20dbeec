"""Transactions of which somebody has decided whether they were fraud."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import msgspec

from tripline_engine.errors import EngineError


class UnreadableLabels(EngineError):
    """A file that holds something else than labels; the message names the line."""


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    fraud: bool


@dataclass(frozen=True, slots=True)
class Labels:
    """By the id of a transaction, whether it was fraud."""

    of: Mapping[str, bool] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def fraud(self) -> int:
        """How many were."""
        return sum(self.of.values())


def read_labels(file: Path) -> Labels:
    """The labels of a file, a line each: `{"id": "…", "fraud": true}`. Raises UnreadableLabels."""
    labels: dict[str, bool] = {}
    try:
        with file.open("rb") as lines:
            for number, text in enumerate(lines, start=1):
                line = _read(text, f"{file}, line {number}")
                labels[line.id] = line.fraud
    except OSError as error:
        raise UnreadableLabels(f"{file} can't be read: {error.strerror}") from error
    return Labels(labels)


def _read(text: bytes, where: str) -> _Line:
    try:
        return msgspec.json.decode(text, type=_Line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UnreadableLabels(f'{where}: expected {{"id": "…", "fraud": true}}: {error}') from error
