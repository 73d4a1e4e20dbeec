"""The body and the answer of a rule's purpose."""

from __future__ import annotations

from typing import Any, get_args

import marshmallow as ma

from rules_registry.domain.purposes.rule_purpose import (
    MAX_DESCRIPTION,
    MAX_OWNER,
    MAX_PLAYBOOK,
    MAX_TAGS,
    PLAYBOOK_PATTERN,
    TAG_PATTERN,
    Purpose,
    Severity,
)
from tripline_contracts import display_text
from tripline_http.fields import Text

SEVERITIES = get_args(Severity)


def _readable(*, lines: bool) -> Any:
    """What the pattern cannot say: joiners where no script needs them, characters above U+FFFF."""

    def check(text: str) -> None:
        if refused := display_text.refused_character(text, lines=lines):
            raise ma.ValidationError(f"expected a text {display_text.EXPECTED}; it has {refused}")

    return check


def _once(tags: list[str]) -> None:
    if len(set(tags)) < len(tags):
        raise ma.ValidationError("expected each tag once")


class PurposeSchema(ma.Schema):
    """What a rule is for, and what to do about its alerts. What nobody has said is null, tags are none then."""

    description = ma.fields.String(
        load_default=None,
        allow_none=True,
        validate=[ma.validate.Length(1, MAX_DESCRIPTION), _readable(lines=True)],
        metadata={
            "pattern": display_text.NOTE_PATTERN,
            "description": f"What fraud it is after: a text {display_text.EXPECTED}; it may have several lines",
        },
    )
    severity = ma.fields.String(
        load_default=None,
        allow_none=True,
        validate=ma.validate.OneOf(SEVERITIES),
        metadata={"description": "How bad it is where the rule is right"},
    )
    tags = ma.fields.List(
        Text(1, 40, pattern=TAG_PATTERN),
        load_default=list,
        validate=[ma.validate.Length(max=MAX_TAGS), _once],
        metadata={"uniqueItems": True, "description": "Short words to find rules by, each once"},
    )
    owner = ma.fields.String(
        load_default=None,
        allow_none=True,
        validate=[ma.validate.Length(1, MAX_OWNER), _readable(lines=False)],
        metadata={
            "pattern": display_text.NAME_PATTERN,
            "description": "Whom to ask about the rule: a person or a team",
        },
    )
    playbook = Text(
        1,
        MAX_PLAYBOOK,
        pattern=PLAYBOOK_PATTERN,
        load_default=None,
        allow_none=True,
        metadata={"description": "The https address of what to do about an alert of the rule"},
    )

    @ma.post_load
    def _to_value(self, data: dict[str, Any], **_: object) -> Purpose:
        return Purpose(**{**data, "tags": tuple(data["tags"])})
