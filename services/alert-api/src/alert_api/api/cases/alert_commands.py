"""/v1/alerts/{id}/…: what people do about one alert, which is work on the case that it is in.

An alert has no state of work of its own beside its acknowledgement: two truths about one burst would contradict each
other. The answer is the case, so it says how many alerts the work is about.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from flask import Response

from alert_api.api.alerts import ID_PATH
from alert_api.api.cases.case_commands import ACTIONS, Action, Body, Clock, expects, noted
from alert_api.api.cases.case_readings import component, shown
from alert_api.api.cases.origins import KEY_DOC, origin_of
from alert_api.domain.events import AlertId
from alert_api.service.alert_queries import AlertReader
from alert_api.service.cases.case_queries import CaseReader
from alert_api.service.cases.case_work import CaseDesk
from tripline_http.auth import current_actor
from tripline_http.errors import ProblemError
from tripline_http.etags import ETAG_HEADER_DOC, IfMatch
from tripline_http.openapi import ApiBlueprint

# To acknowledge an alert is an event of its own, which was there before there were cases.
_ON_ALERTS: Final[dict[str, tuple[str, str]]] = {
    "claim": ("claimAlert", "Take the alert's case: the caller works on it from now on, whoever had it."),
    "assign": ("assignAlert", "Give the alert's case to somebody, or hand it over."),
    "resolve": ("resolveAlert", "Say what it was: of all alerts of the case, for one burst has one outcome."),
    "reopen": (
        "reopenAlert",
        "Take the resolution of the alert's case back. 409 where another one is unresolved.",
    ),
    "comment": ("commentOnAlert", "Write something down about the alert's case."),
}


def add_alert_commands(
    blueprint: ApiBlueprint, alerts: AlertReader, cases: CaseReader, desk: CaseDesk, clock: Clock
) -> None:
    """The views over `alerts`, for which case it is, and `desk`."""
    for action in ACTIONS:
        if action[0] in _ON_ALERTS:
            _add_action(blueprint, (alerts, cases, desk), clock, action)


def _add_action(
    blueprint: ApiBlueprint, stores: tuple[AlertReader, CaseReader, CaseDesk], clock: Clock, action: Action
) -> None:
    path, body_schema, _, _, make = action
    operation, description = _ON_ALERTS[path]
    alerts, cases, desk = stores

    def act(if_match: IfMatch, body: Body, alert_id: UUID) -> Response:
        case_id = alerts.get(AlertId(str(alert_id))).case_id
        if case_id is None:
            raise ProblemError(
                409,
                "alert-in-no-case",
                "This alert is in no case: a snooze covers it, or it is not folded yet.",
            )
        command = make(current_actor(), clock(), noted(body))
        desk.work(case_id, command, lambda version: expects(if_match, version), origin_of(body))
        return shown(cases, case_id)

    act.__name__ = f"{path}_alert"
    act.__doc__ = (
        f"{description}\n\nIf-Match has the version of the case, `caseId` of the alert; so has the answer."
    )
    for decorate in (
        blueprint.doc(operationId=operation),
        blueprint.problems(400, 404, 409, 412, 413, 415, 422, 503),
        blueprint.response(200, component("Case"), headers=ETAG_HEADER_DOC),
        blueprint.arguments(body_schema),
        blueprint.parameter(KEY_DOC),
        blueprint.if_match,
        blueprint.requires("alerts:ack"),
        blueprint.route(f"{ID_PATH}/{path}", methods=["POST"], endpoint=f"{path}_alert"),
    ):
        act = decorate(act)
