"""Cases: requests as marshmallow schemas, and answers as JSON Schemas."""

from __future__ import annotations

from typing import Any, Final

import marshmallow as ma

from alert_api.api.schemas import (
    MAX_ACTOR,
    MAX_COMMENT,
    MAX_RULES,
    STANDINGS,
    group_pattern,
)
from alert_api.domain.cases.severity import SEVERITIES
from alert_api.domain.cases.work_events import OUTCOMES
from alert_api.service.cases.case_work import MOST_AT_ONCE
from tripline_contracts import display_text
from tripline_contracts.event_type import EventType
from tripline_http.cursors import PATTERN as CURSOR_PATTERN
from tripline_http.fields import MAX_MS, MAX_POSITION, BoundedInteger, QueryInteger, Text

SORTS: Final = ("newest", "due")


class PageQuery(ma.Schema):
    """A page of a listing."""

    cursor = Text(
        1, 1024, pattern=CURSOR_PATTERN, metadata={"description": "From the Link header of the page before"}
    )
    limit = QueryInteger(1, 100, load_default=25)


class CaseAlertsQuery(PageQuery):
    """A page of a case's alerts."""

    episode_id = QueryInteger(
        1, MAX_POSITION, data_key="episodeId", metadata={"description": "Only those of this episode"}
    )


class _FilterQuery(ma.Schema):
    """Filters of cases; `filter_query` adds what the event type decides."""

    state = ma.fields.String(
        validate=ma.validate.OneOf(STANDINGS),
        metadata={"description": "unresolved: any but resolved"},
    )
    outcome = ma.fields.String(validate=ma.validate.OneOf(OUTCOMES))
    assignee = Text(1, MAX_ACTOR)
    rule_id = ma.fields.List(
        QueryInteger(1, MAX_POSITION),
        data_key="ruleId",
        validate=ma.validate.Length(max=MAX_RULES),
        load_default=list,
        metadata={"description": "Repeat it to ask for the cases of any of several rules"},
    )
    earliest = QueryInteger(
        0,
        MAX_MS,
        data_key="from",
        metadata={"description": "Event time of the newest alert in ms, this one included"},
    )
    latest = QueryInteger(
        0,
        MAX_MS,
        data_key="to",
        metadata={"description": "Event time of the newest alert in ms, this one included"},
    )

    severity = ma.fields.String(
        validate=ma.validate.OneOf(SEVERITIES),
        metadata={"description": "The worst of its rules', as they are now"},
    )
    overdue = ma.fields.String(
        validate=ma.validate.OneOf(["true"]), metadata={"description": "Unresolved, and due before now"}
    )


def subject_field(declared: EventType) -> Text:
    """A subject, as queries and views name it."""
    return Text(
        3,
        200,
        pattern=group_pattern(declared),
        metadata={
            "description": "field:value of the subject",
            "example": f"{declared.anchors[0]}:25",
        },
    )


def filter_query(declared: EventType) -> type[ma.Schema]:
    """The filters alone."""
    return _FilterQuery.from_dict({"subject": subject_field(declared)}, name="CaseFilterQuery")


def page_query(declared: EventType) -> type[ma.Schema]:
    """The filters, and a page."""
    fields: dict[str, Any] = {name: PageQuery._declared_fields[name] for name in ("cursor", "limit")}  # noqa: SLF001
    fields["sort"] = ma.fields.String(
        validate=ma.validate.OneOf(SORTS),
        load_default="newest",
        metadata={
            "description": "newest: the newest alert first; due: the earliest due first, without one last"
        },
    )
    return _FilterQuery.from_dict({"subject": subject_field(declared), **fields}, name="CaseQuery")


class _Body(ma.Schema):
    class Meta:
        unknown = ma.RAISE

    @ma.validates_schema(skip_on_field_errors=True)
    def _readable(self, body: dict[str, Any], **_: Any) -> None:
        for name in ("comment", "assignee"):
            refused = display_text.refused_character(body.get(name) or "", lines=name == "comment")
            if refused is not None:
                raise ma.ValidationError(
                    f"expected a text {display_text.EXPECTED}; it has {refused}", field_name=name
                )


def _comment(low: int, **options: Any) -> Text:
    return Text(
        low,
        MAX_COMMENT,
        metadata={
            "pattern": display_text.NOTE_PATTERN,
            "description": f"A text {display_text.EXPECTED}; it may have several lines",
        },
        **options,
    )


def _assignee(**options: Any) -> Text:
    return Text(
        1,
        MAX_ACTOR,
        metadata={
            "pattern": display_text.NAME_PATTERN,
            "description": f"Who is to work on it, as keys and tokens name people; a text {display_text.EXPECTED}",
        },
        **options,
    )


class CommentedBody(_Body):
    """What a person wants to note, if anything."""

    comment = _comment(0, allow_none=True, load_default=None)


class AssignBody(CommentedBody):
    """Who is to work on it."""

    assignee = _assignee(required=True)


class ResolveBody(CommentedBody):
    """What it was."""

    outcome = ma.fields.String(required=True, validate=ma.validate.OneOf(OUTCOMES))


class CommentBody(_Body):
    """What a person notes."""

    comment = _comment(1, required=True)


class BulkBody(CommentedBody):
    """What is to be done with all cases of the filter, and how many these are."""

    action = ma.fields.String(required=True)
    expected = BoundedInteger(1, MOST_AT_ONCE, required=True)


class BulkAssignBody(BulkBody, AssignBody):
    """And who is to work on them."""


class BulkResolveBody(BulkBody, ResolveBody):
    """And what they were."""


BULK_BODIES: Final[dict[str, type[BulkBody]]] = {
    "acknowledge": BulkBody,
    "claim": BulkBody,
    "assign": BulkAssignBody,
    "resolve": BulkResolveBody,
}
