"""The body of POST /v1/mapping-proposals: the first bytes of a file, and a mapping that is to be tried."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tripline_contracts.recordings.proposals.file_head import MAX_BYTES
from tripline_http.errors import FieldError, invalid_input

BODY_SCHEMA: Final = "MappingProposalBody"
MAX_LETTERS: Final = MAX_BYTES // 3 * 4
MAX_MAPPING: Final = 16_384
MAX_BODY: Final = MAX_LETTERS + 6 * MAX_MAPPING + 1_024
"""In bytes: a character of the mapping may be escaped with six."""
_BASE64: Final = r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
_LETTERS: Final = re.compile(_BASE64, re.ASCII)
_MEMBERS: Final = ("head", "isWhole", "mapping")


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody has.

    :ivar is_whole: the bytes are all of the file
    :ivar mapping: to be tried; None: one is proposed
    """

    head: bytes
    is_whole: bool
    mapping: str | None


def mapping_body_schema() -> dict[str, Any]:
    """The body in JSON Schema."""
    head = {
        "type": "string",
        "maxLength": MAX_LETTERS,
        "pattern": _BASE64,
        "contentEncoding": "base64",
        "description": f"The first bytes of a file as they are in it, packed or not: {MAX_BYTES} at most",
    }
    mapping = {
        "type": ["string", "null"],
        "maxLength": MAX_MAPPING,
        "pattern": "^[^\\u0000]*$",
        "description": "The text of a mapping file that is to be tried. Null or none: one is proposed",
    }
    return {
        "type": "object",
        "properties": {
            "head": head,
            "isWhole": {"type": "boolean", "description": "The file has no more bytes than these"},
            "mapping": mapping,
        },
        "required": ["head", "isWhole"],
        "additionalProperties": False,
    }


def read_mapping_body(body: Mapping[str, Any]) -> Asked:
    """Reads the body; raises the 422 problem that names every wrong field."""
    errors = [FieldError(name, "unknown field") for name in body if name not in _MEMBERS]
    head, is_whole, mapping = (body.get(name) for name in _MEMBERS)
    if not isinstance(head, str) or len(head) > MAX_LETTERS or not _LETTERS.fullmatch(head):
        errors.append(FieldError("head", f"expected base64 of up to {MAX_BYTES} bytes"))
    if not isinstance(is_whole, bool):
        errors.append(FieldError("isWhole", "expected true or false"))
    if mapping is not None and (not isinstance(mapping, str) or len(mapping) > MAX_MAPPING):
        errors.append(
            FieldError("mapping", f"expected the text of a mapping file, of up to {MAX_MAPPING} characters")
        )
    if errors:
        raise invalid_input(errors)
    return Asked(base64.b64decode(str(head)), bool(is_whole), mapping)
