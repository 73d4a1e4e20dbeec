"""/v1/cases: list, count, look at, with episodes, alerts and events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from flask import Response, jsonify

from alert_api.api.alerts import alert_json
from alert_api.api.cases.case_json import case_event_json, case_json, episode_json
from alert_api.api.cases.case_schemas import CaseAlertsQuery, PageQuery, filter_query, page_query
from alert_api.domain.cases.case import STATES
from alert_api.domain.cases.subject import Subject
from alert_api.domain.events import AlertId
from alert_api.service.alert_queries import Place
from alert_api.service.cases.case_queries import CaseFilter, CasePlace, CaseReader
from tripline_contracts.event_type import EventType
from tripline_http.cursors import Key, decode_cursor, encode_cursor
from tripline_http.errors import ProblemError
from tripline_http.etags import ETAG_HEADER_DOC, etag_of
from tripline_http.fields import MAX_POSITION
from tripline_http.links import LINK_HEADER_DOC, next_link
from tripline_http.openapi import ApiBlueprint

LISTING = "cases"
CASE_PATH = f"/v1/cases/<int(min=1, max={MAX_POSITION}):case_id>"


def add_case_listing(
    blueprint: ApiBlueprint, cases: CaseReader, clock: Callable[[], int], event_type: EventType
) -> None:
    """The views that look at many cases; `clock` says what is overdue."""

    @blueprint.route("/v1/cases", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(page_query(event_type), location="query")
    @blueprint.response(200, component("CasePage"), headers=LINK_HEADER_DOC)
    @blueprint.problems(400, 503)
    @blueprint.doc(operationId="listCases")
    def list_cases(query: dict[str, Any]) -> Response:
        """Cases, filtered; those with the newest alert by event time first, or those due first

        A case that gets an alert while pages are read may be on two of them, or on none.
        """
        context = {name: query.get(name) for name in sorted(query.keys() - {"cursor", "limit"})}
        after = _case_place(query, LISTING, context)
        chosen = case_filter(query, event_type, clock())
        page = cases.page(chosen, after, query["limit"], by_due=query["sort"] == "due")
        return _page([case_json(case) for case in page.cases], LISTING, context, page.following)

    @blueprint.route("/v1/cases/summary", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(filter_query(event_type), location="query")
    @blueprint.response(200, component("CaseCounts"))
    @blueprint.problems(503)
    @blueprint.doc(operationId="countCases")
    def count_cases(query: dict[str, Any]) -> Response:
        """How many cases a filter chooses, by state

        What `POST /v1/cases/bulk` would do something with, before it does.
        """
        now = clock()
        chosen = case_filter(query, event_type, now)
        overdue = sum(cases.counts(replace(chosen, overdue_at=now)).values())
        counts = cases.counts(chosen)
        by_state = {state: counts.get(state, 0) for state in STATES}
        return jsonify(total=sum(by_state.values()), byState=by_state, overdue=overdue)


def add_case_readings(blueprint: ApiBlueprint, cases: CaseReader) -> None:
    """The views that look at one case."""

    @blueprint.route(CASE_PATH, methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, component("Case"), headers=ETAG_HEADER_DOC)
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="getCase")
    def get_case(case_id: int) -> Response:
        """One case."""
        return shown(cases, case_id)

    @blueprint.route(f"{CASE_PATH}/episodes", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(PageQuery, location="query")
    @blueprint.response(200, component("CaseEpisodes"), headers=LINK_HEADER_DOC)
    @blueprint.problems(400, 404, 503)
    @blueprint.doc(operationId="getCaseEpisodes")
    def get_case_episodes(query: dict[str, Any], case_id: int) -> Response:
        """A case's episodes: alerts of one rule and group without a gap; those with the newest alert first."""
        context = {"case": case_id}
        page = cases.episodes(case_id, _case_place(query, "case-episodes", context), query["limit"])
        items = [episode_json(episode) for episode in page.episodes]
        return _page(items, "case-episodes", context, page.following)

    @blueprint.route(f"{CASE_PATH}/events", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(PageQuery, location="query")
    @blueprint.response(200, component("CaseEvents"), headers=LINK_HEADER_DOC)
    @blueprint.problems(400, 404, 503)
    @blueprint.doc(operationId="getCaseEvents")
    def get_case_events(query: dict[str, Any], case_id: int) -> Response:
        """What happened to a case, newest first: what people did, and which alerts opened it."""
        context = {"case": case_id}
        before = None
        if "cursor" in query:
            before = int(decode_cursor(query["cursor"], "case-events", context, (int,))[0])
        page = cases.events(case_id, before, query["limit"])
        items = [case_event_json(event) for event in page.events]
        following = None if page.following is None else (page.following,)
        return _page(items, "case-events", context, following)

    _add_alerts(blueprint, cases)


def _add_alerts(blueprint: ApiBlueprint, cases: CaseReader) -> None:
    @blueprint.route(f"{CASE_PATH}/alerts", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(CaseAlertsQuery, location="query")
    @blueprint.response(200, component("AlertPage"), headers=LINK_HEADER_DOC)
    @blueprint.problems(400, 404, 503)
    @blueprint.doc(operationId="getCaseAlerts")
    def get_case_alerts(query: dict[str, Any], case_id: int) -> Response:
        """The alerts of a case's episodes, newest by event time first

        An episode that went on after the case was resolved has those that came later, too.
        """
        context = {"case": case_id, "episode": query.get("episode_id")}
        after = None
        if "cursor" in query:
            after = _alert_place(*decode_cursor(query["cursor"], "case-alerts", context, (int, str)))
        page = cases.alerts(case_id, query.get("episode_id"), after, query["limit"])
        last = page.following
        following = None if last is None else (last.event_time, last.alert_id)
        return _page([alert_json(alert) for alert in page.alerts], "case-alerts", context, following)


def component(name: str) -> dict[str, str]:
    """A reference to one of the document's schemas."""
    return {"$ref": f"#/components/schemas/{name}"}


def shown(cases: CaseReader, case_id: int) -> Response:
    """A case with its version as the ETag."""
    stored = cases.get(case_id)
    response = jsonify(case_json(stored))
    response.headers["ETag"] = etag_of(stored.case.version)
    return response


def case_filter(query: Mapping[str, Any], event_type: EventType, now: int) -> CaseFilter:
    """The filter that a query is, at this moment."""
    subject = None
    if "subject" in query:
        name, _, value = query["subject"].partition(":")
        subject = Subject.of_field(event_type.find_grouping(name) or name, value)
    return CaseFilter(
        standing=query.get("state"),
        outcome=query.get("outcome"),
        assignee=query.get("assignee"),
        rule_ids=tuple(sorted(set(query["rule_id"]))),
        subject=subject,
        earliest=query.get("earliest"),
        latest=query.get("latest"),
        severity=query.get("severity"),
        overdue_at=now if "overdue" in query else None,
    )


def _case_place(query: Mapping[str, Any], listing: str, context: Mapping[str, object]) -> CasePlace | None:
    if "cursor" not in query:
        return None
    time, row_id = decode_cursor(query["cursor"], listing, context, (int, int))
    return CasePlace(int(time), int(row_id))


def _alert_place(event_time: Key, alert_id: Key) -> Place:
    try:
        return Place(int(event_time), AlertId(str(UUID(str(alert_id)))))
    except ValueError as error:
        raise ProblemError(400, "invalid-cursor", "This cursor is not one of this listing.") from error


def _page(
    items: list[dict[str, Any]],
    listing: str,
    context: Mapping[str, object],
    following: tuple[Key, ...] | None,
) -> Response:
    response = jsonify(items=items)
    if following is not None:
        response.headers.update(next_link(encode_cursor(listing, context, following)))
    return response
