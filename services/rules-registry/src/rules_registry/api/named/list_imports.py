"""/v1/lists/{name}/imports: a CSV file of entries."""

from __future__ import annotations

import hashlib
import io
from typing import IO

from flask import Response, request

from rules_registry.api.actor import actor_of_request, takes_reason
from rules_registry.api.idempotency import IDEMPOTENCY_KEY_DOC, repeatable, response_of
from rules_registry.api.named.entry_schemas import EntriesOutcomeSchema
from rules_registry.api.named.list_entries import outcome_json
from rules_registry.api.named.named_value_body import NAME_DOC
from rules_registry.api.named.named_value_views import expected_of
from rules_registry.api.review.change_views import ACCEPTED
from rules_registry.api.review.proposal import propose
from rules_registry.api.services import four_eyes, registry
from rules_registry.domain.commands import ChangeEntries
from rules_registry.domain.named.csv_entries import (
    EXPECTED_UNTIL,
    MAX_IMPORT_BYTES,
    MAX_IMPORT_LINES,
    CsvEntries,
    read_csv,
)
from rules_registry.domain.named.list_entries import additions
from rules_registry.service.named.list_entries import ImportedEntries
from rules_registry.service.ports import Answer
from tripline_contracts.filters.named_values import MAX_VALUES
from tripline_http.errors import FieldError, ProblemError, bad_request, invalid_input
from tripline_http.etags import ETAG_HEADER_DOC, IfMatch, etag_of
from tripline_http.fields import MAX_ID, BoundedInteger
from tripline_http.openapi import ApiBlueprint

_TYPE = "text/csv"
_BODY_DOC = {
    "required": True,
    "description": f"UTF-8, a line for each entry: `value` or `value,until`, where `until` is {EXPECTED_UNTIL}. A "
    f"first line `value` or `value,until` is a heading. At most {MAX_IMPORT_LINES} lines and {MAX_IMPORT_BYTES} bytes",
    "content": {
        _TYPE: {
            "schema": {"type": "string", "minLength": 1},
            "example": "value,until\nmallory,\neve,2026-12-31T23:59:59Z\n",
        }
    },
}
_DESCRIPTION = f"""\
All lines are read first: where one of them is wrong nothing is taken, and the answer names each, up to a hundred. Then
the entries are added, {MAX_VALUES} to an event; the answer comes after the last one. What an event has added stays,
whatever happens to those after it, and the same import again adds the rest. Of a value that comes twice the last line
counts; what the list has already changes nothing, or gets another end. Where a second person has to approve changes,
an import is what fits one event."""


class ImportedEntriesSchema(EntriesOutcomeSchema):
    """A list after an import."""

    lines = BoundedInteger(1, MAX_ID, required=True, metadata={"description": "Lines with a value"})
    events = BoundedInteger(
        0,
        MAX_ID,
        required=True,
        metadata={"description": "Events that came of them; version has grown by it"},
    )


def add_imports(blueprint: ApiBlueprint) -> None:
    """The operation, under the tag of lists."""

    @blueprint.route("/v1/lists/<name>/imports", methods=["POST"], parameters=[NAME_DOC])
    @blueprint.requires("rules:write")
    @blueprint.optional_if_match
    @blueprint.parameter(IDEMPOTENCY_KEY_DOC)
    @takes_reason
    @blueprint.response(200, ImportedEntriesSchema, headers=ETAG_HEADER_DOC)
    @blueprint.or_response(**ACCEPTED)
    @blueprint.problems(400, 404, 409, 413, 415, 503)
    @blueprint.doc(
        operationId="importEntries",
        summary="Add the entries of a CSV file to a list",
        description=_DESCRIPTION,
        requestBody=_BODY_DOC,
    )
    def import_entries(if_match: IfMatch | None, name: str) -> Response:
        read, digest = _read_body()
        changes = list(additions(read.entries))
        if four_eyes():
            if len(changes) > 1:
                raise ProblemError(
                    409,
                    "needs-approval",
                    "Where a second person has to approve each change, an import is what fits one event: at most "
                    f"{MAX_VALUES} entries.",
                )
            return propose(ChangeEntries(name, expected_of(if_match), changes[0]), repeatable(digest))

        def imported(outcome: ImportedEntries) -> Answer:
            assert outcome.last is not None  # there is a line
            totals = {"added": outcome.added, "removed": outcome.removed, "events": outcome.events}
            body = {**outcome_json(outcome.last), **totals, "lines": read.lines}
            return Answer(200, {"ETag": etag_of(outcome.last.named.version)}, body)

        answer = registry().import_entries(
            actor_of_request(), name, expected_of(if_match), changes, imported, repeatable(digest)
        )
        return response_of(answer)


def _read_body() -> tuple[CsvEntries, str]:
    """What the lines say, and their hash. Raises the problem of what cannot be read."""
    if request.mimetype != _TYPE:
        raise ProblemError(
            415,
            "unsupported-media-type",
            f"Send the entries with {_TYPE} as Content-Type.",
            headers={"Accept": _TYPE},
        )
    request.max_content_length = MAX_IMPORT_BYTES
    source = _Hashed(request.stream)
    buffered = io.BufferedReader(source)  # type: ignore[type-var]  # it reads into any buffer that it is given
    try:
        read = read_csv(io.TextIOWrapper(buffered, encoding="utf-8-sig", newline=""))
    except UnicodeDecodeError as error:
        raise bad_request("The body is not UTF-8.") from error
    if read.problems:
        raise invalid_input([FieldError(problem.field, problem.message) for problem in read.problems])
    return read, source.digest


class _Hashed(io.RawIOBase):
    """A stream that is hashed as it is read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._hash = stream, hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._hash.update(data)
        return len(data)

    @property
    def digest(self) -> str:
        """The hash of what was read."""
        return self._hash.hexdigest()
