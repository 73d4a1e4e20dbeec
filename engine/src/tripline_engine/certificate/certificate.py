"""A replay certificate as a JSON document, its digest, and what differs between two of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tripline_contracts.canonical import canonical_json, sha256_hex
from tripline_engine.certificate.span import Span
from tripline_engine.errors import EngineError

FORMAT: Final = "tripline-replay-certificate/1"
_NOT_COMPARED: Final = "made"


class UnreadableCertificate(EngineError):
    """The file is no certificate; the message names the member."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Up to where logs were read when a certificate was made: a check reads them as far, however far they go since.

    :ivar reached: by engine, the last micro-batch that was replayed
    :ivar settled: by engine, the last micro-batch whose alerts had all been written
    :ivar alert_ends: end offsets of alerts.v1, by partition
    """

    reached: Mapping[str, int]
    settled: Mapping[str, int]
    alert_ends: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Certificate:
    """`document` is everything that it says, as in the file."""

    document: dict[str, Any]

    @property
    def matches(self) -> bool:
        """Whether the alerts that were told are those that the order brings about."""
        return bool(self.document["outcome"] == "match")

    @property
    def digest(self) -> str:
        """SHA-256 of all that a check must come to as well: not of when it was made, and by which release."""
        return sha256_hex(canonical_json(self._compared()))

    @property
    def span(self) -> Span:
        """Of which event times its alerts are."""
        return Span(self.document["from"], self.document["until"])

    @property
    def only_engine(self) -> str | None:
        """The engine that it is about, where it is about one of several."""
        engine: str | None = self.document["onlyEngine"]
        return engine

    @property
    def bounds(self) -> Bounds:
        """Up to where logs were read."""
        engines = self.document["engines"]
        return Bounds(
            {one["engine"]: one["microBatches"] for one in engines},
            {one["engine"]: one["settled"] for one in engines},
            {int(partition): end for partition, end in self.document["alerts"]["ends"].items()},
        )

    def differences(self, other: Certificate) -> list[str]:
        """Sentences: the members that differ from another one's."""
        return list(_differences("", self._compared(), other._compared()))

    def write(self, file: Path) -> None:
        """For people and programs."""
        file.write_text(f"{json.dumps({**self.document, 'sha256': self.digest}, indent=2)}\n", "utf-8")

    @staticmethod
    def read(file: Path) -> Certificate:
        """Raises UnreadableCertificate, for one whose digest is not its own, too."""
        try:
            document = json.loads(file.read_text("utf-8"))
            if document["format"] != FORMAT:
                raise UnreadableCertificate(
                    f"{file}: format: expected {FORMAT}, found {document['format']!r}"
                )
            digest = document.pop("sha256")
            certificate = Certificate(document)
            _ = certificate.span, certificate.bounds, certificate.only_engine
        except OSError as error:
            raise UnreadableCertificate(f"{file} can't be read: {error}") from error
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise UnreadableCertificate(
                f"{file} is no certificate: {type(error).__name__}: {error}"
            ) from error
        if certificate.digest != digest:
            raise UnreadableCertificate(f"{file}: sha256: it is {digest}, and of what stands there it would be"
                                        f" {certificate.digest}: the certificate was changed")  # fmt: skip
        return certificate

    def _compared(self) -> dict[str, Any]:
        return {name: value for name, value in self.document.items() if name != _NOT_COMPARED}


def _differences(path: str, mine: Any, theirs: Any) -> Iterator[str]:
    if isinstance(mine, dict) and isinstance(theirs, dict):
        for name in [*mine, *(name for name in theirs if name not in mine)]:
            yield from _differences(f"{path}.{name}" if path else name, mine.get(name), theirs.get(name))
    elif isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs):
        for number, (one, other) in enumerate(zip(mine, theirs, strict=True)):
            yield from _differences(f"{path}[{number}]", one, other)
    elif mine != theirs:
        yield f"{path}: {json.dumps(mine)} in the certificate, {json.dumps(theirs)} now"
