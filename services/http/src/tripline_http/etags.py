"""`ETag` and `If-Match`: the version of a resource, and changing only what one has seen (RFC 9110, 13.1.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flask import request
from werkzeug.http import parse_etags

from tripline_http.errors import FieldError, ProblemError, bad_request

IF_MATCH_PATTERN = r'^(\*|"[0-9]{1,10}")$'
# The grammar of a list of entity tags; werkzeug's parser reads anything.
_TAGS = re.compile(r'\s*(?:W/)?"[\x21\x23-\x7e]*"\s*(?:,\s*(?:W/)?"[\x21\x23-\x7e]*"\s*)*')

ETAG_HEADER_DOC = {
    "ETag": {
        "description": "The version, in quotes",
        "schema": {"type": "string", "pattern": r'^"[0-9]{1,10}"$'},
    }
}


@dataclass(frozen=True, slots=True)
class IfMatch:
    """The versions that the caller expects: any, or one of these."""

    any_version: bool
    tags: frozenset[str]

    def require(self, version: int) -> None:
        """Raises the 412 problem unless `version` is expected."""
        if not self.any_version and str(version) not in self.tags:
            raise ProblemError(
                412,
                "stale-version",
                f"If-Match does not name the current version, which is {version}. Read it again first.",
                extra={"currentVersion": version},
                headers={"ETag": etag_of(version)},
            )


def etag_of(version: int) -> str:
    """The strong entity tag of a version."""
    return f'"{version}"'


def read_if_match() -> IfMatch:
    """The request's `If-Match`. Raises the 428 problem where it is missing and 400 where it cannot be read.

    Weak tags never match: the comparison is the strong one.
    """
    header = request.headers.get("If-Match")
    if header is None:
        raise ProblemError(428, "if-match-required", 'Send the version you have seen as If-Match, like "3".')
    if header.strip() == "*":
        return IfMatch(True, frozenset())
    if not _TAGS.fullmatch(header):
        raise bad_request(
            "If-Match cannot be read.",
            errors=[FieldError("header.If-Match", 'expected * or a version like "3"')],
        )
    return IfMatch(False, frozenset(parse_etags(header).as_set(include_weak=False)))
