"""The one place where this package's errors become HTTP problems."""

from __future__ import annotations

from flask import Flask, Response

from alert_api.errors import (
    AlertNotFound,
    AlreadyAcknowledged,
    AlreadyDecided,
    AnotherContent,
    AnotherWebhook,
    CaseInTheWay,
    CaseNotFound,
    CaseStateConflict,
    CorrectionNotReadable,
    CountChanged,
    EvidenceNotSigned,
    KeyReused,
    NotConnected,
    OwnWebhook,
    ProofRefused,
    ProverBusy,
    ProverUnavailable,
    RejectedRecordNotFound,
    SecondPersonNeeded,
    SnoozeNotFound,
    SnoozeNotPossible,
    SnoozeStateConflict,
    StaleCase,
    StaleSnooze,
    StaleWebhook,
    StoreUnavailable,
    TooManyViews,
    UpstreamUnavailable,
    ViewNotFound,
    WebhookInTheWay,
    WebhookNotActive,
    WebhookNotFound,
    WebhookRefused,
    WebhooksOff,
)
from tripline_http.errors import FieldError, ProblemError, invalid_input
from tripline_http.etags import etag_of
from tripline_http.problems import problem_response

RETRY = {"Retry-After": "1"}
RETRY_LATER = {"Retry-After": "5"}


def install_problems(app: Flask) -> None:
    """Answer our own errors; what is not here is a defect and answered with 500."""

    def not_found(error: AlertNotFound) -> Response:
        return problem_response(ProblemError(404, "alert-not-found", f"There is no alert {error.alert_id}."))

    def taken(error: AlreadyAcknowledged) -> Response:
        first = {"acknowledgedBy": error.first_by, "acknowledgedAt": error.first_at}
        detail = f"{error.first_by} acknowledged this alert first."
        return problem_response(ProblemError(409, "already-acknowledged", detail, extra=first))

    def store_away(_error: StoreUnavailable) -> Response:
        detail = "The alerts cannot be reached now. Try again in a moment."
        return problem_response(ProblemError(503, "alerts-unavailable", detail, headers=RETRY))

    def upstream_away(error: UpstreamUnavailable) -> Response:
        detail = f"{error.title} does not answer now. Try again in a moment."
        return problem_response(ProblemError(503, "upstream-unavailable", detail, headers=RETRY))

    def not_connected(error: NotConnected) -> Response:
        return problem_response(ProblemError(404, "not-connected", f"{error}."))

    def no_proof(error: ProofRefused) -> Response:
        status = {"too-much": 422, "nothing-there": 404}.get(error.reason, 409)
        return problem_response(
            ProblemError(status, f"no-proof-{error.reason}", f"There is no proof: {error}.")
        )

    def busy(error: ProverBusy) -> Response:
        detail = f"The prover is busy: {error}. Ask again."
        return problem_response(ProblemError(503, "prover-busy", detail, headers=RETRY_LATER))

    def prover_away(error: ProverUnavailable) -> Response:
        detail = f"The prover cannot be asked: {error}."
        return problem_response(ProblemError(503, "prover-unavailable", detail, headers=RETRY_LATER))

    def not_signed(error: EvidenceNotSigned) -> Response:
        return problem_response(ProblemError(503, "evidence-not-signed", f"{error}."))

    app.register_error_handler(EvidenceNotSigned, not_signed)
    app.register_error_handler(ProofRefused, no_proof)
    app.register_error_handler(ProverBusy, busy)
    app.register_error_handler(ProverUnavailable, prover_away)
    app.register_error_handler(AlertNotFound, not_found)
    _install_rejected(app)
    _install_case_problems(app)
    _install_snooze_problems(app)
    _install_view_problems(app)
    _install_webhook_problems(app)
    app.register_error_handler(AlreadyAcknowledged, taken)
    app.register_error_handler(StoreUnavailable, store_away)
    app.register_error_handler(UpstreamUnavailable, upstream_away)
    app.register_error_handler(NotConnected, not_connected)


def _install_view_problems(app: Flask) -> None:
    """Those of saved views."""

    def not_found(error: ViewNotFound) -> Response:
        return problem_response(ProblemError(404, "view-not-found", f"You have no view {error.name}."))

    def too_many(error: TooManyViews) -> Response:
        return problem_response(ProblemError(409, "too-many-views", f"{error}. Remove one first."))

    app.register_error_handler(ViewNotFound, not_found)
    app.register_error_handler(TooManyViews, too_many)


def _install_rejected(app: Flask) -> None:
    """Those of rejected records."""

    def not_found(error: RejectedRecordNotFound) -> Response:
        detail = f"There is no rejected record {error.record_id}."
        return problem_response(ProblemError(404, "rejected-record-not-found", detail))

    def decided(error: AlreadyDecided) -> Response:
        first = {"decidedBy": error.first_by, "decidedAt": error.first_at, "kind": error.kind}
        done = "discarded this record" if error.kind == "discard" else "had this record sent again"
        return problem_response(
            ProblemError(409, "already-decided", f"{error.first_by} {done} first.", extra=first)
        )

    def not_readable(error: CorrectionNotReadable) -> Response:
        return problem_response(
            invalid_input([FieldError("value", str(error))], "The engine could not read this either.")
        )

    app.register_error_handler(RejectedRecordNotFound, not_found)
    app.register_error_handler(AlreadyDecided, decided)
    app.register_error_handler(CorrectionNotReadable, not_readable)


def _install_case_problems(app: Flask) -> None:
    def not_found(error: CaseNotFound) -> Response:
        return problem_response(ProblemError(404, "case-not-found", f"There is no case {error.case_id}."))

    def conflict(error: CaseStateConflict) -> Response:
        extra = {"caseId": error.case_id, "state": error.state}
        return problem_response(ProblemError(409, "case-state-conflict", _sentence(error), extra=extra))

    def in_the_way(error: CaseInTheWay) -> Response:
        extra = {"unresolvedCaseId": error.unresolved}
        return problem_response(ProblemError(409, "case-in-the-way", _sentence(error), extra=extra))

    def stale(error: StaleCase | StaleSnooze | StaleWebhook) -> Response:
        detail = f"If-Match does not name the current version, which is {error.version}. Read it again first."
        extra, headers = {"currentVersion": error.version}, {"ETag": etag_of(error.version)}
        return problem_response(ProblemError(412, "stale-version", detail, extra=extra, headers=headers))

    def reused(_error: KeyReused) -> Response:
        detail = "This Idempotency-Key was used for another request."
        return problem_response(ProblemError(422, "idempotency-key-reused", detail))

    def count_changed(error: CountChanged) -> Response:
        extra = {"expected": error.expected, "count": error.count}
        return problem_response(ProblemError(409, "count-changed", _sentence(error), extra=extra))

    app.register_error_handler(CaseNotFound, not_found)
    app.register_error_handler(CaseStateConflict, conflict)
    app.register_error_handler(CaseInTheWay, in_the_way)
    app.register_error_handler(StaleCase, stale)
    app.register_error_handler(StaleSnooze, stale)
    app.register_error_handler(StaleWebhook, stale)
    app.register_error_handler(KeyReused, reused)
    app.register_error_handler(CountChanged, count_changed)


def _install_snooze_problems(app: Flask) -> None:
    def not_found(error: SnoozeNotFound) -> Response:
        return problem_response(
            ProblemError(404, "snooze-not-found", f"There is no snooze {error.snooze_id}.")
        )

    def not_possible(error: SnoozeNotPossible) -> Response:
        return problem_response(invalid_input([FieldError(error.member, error.expected)]))

    def conflict(error: SnoozeStateConflict) -> Response:
        extra = {"snoozeId": error.snooze_id, "state": error.state}
        return problem_response(ProblemError(409, "snooze-state-conflict", _sentence(error), extra=extra))

    def same_person(error: SecondPersonNeeded) -> Response:
        return problem_response(ProblemError(403, "second-person-needed", _sentence(error)))

    def another_content(error: AnotherContent) -> Response:
        return problem_response(ProblemError(409, "another-content", _sentence(error)))

    app.register_error_handler(SnoozeNotFound, not_found)
    app.register_error_handler(SnoozeNotPossible, not_possible)
    app.register_error_handler(SnoozeStateConflict, conflict)
    app.register_error_handler(SecondPersonNeeded, same_person)
    app.register_error_handler(AnotherContent, another_content)


def _install_webhook_problems(app: Flask) -> None:
    def not_found(error: WebhookNotFound) -> Response:
        return problem_response(ProblemError(404, "webhook-not-found", _sentence(error)))

    def refused(error: WebhookRefused) -> Response:
        return problem_response(invalid_input([FieldError(error.member, error.expected)]))

    def in_the_way(error: WebhookInTheWay) -> Response:
        return problem_response(ProblemError(409, "webhook-in-the-way", _sentence(error)))

    def not_active(error: WebhookNotActive) -> Response:
        return problem_response(ProblemError(409, "webhook-not-active", _sentence(error)))

    def own(error: OwnWebhook) -> Response:
        return problem_response(ProblemError(403, "second-person-needed", _sentence(error)))

    def another(error: AnotherWebhook) -> Response:
        return problem_response(ProblemError(409, "another-content", _sentence(error)))

    def off(error: WebhooksOff) -> Response:
        return problem_response(ProblemError(404, "not-connected", _sentence(error)))

    app.register_error_handler(WebhookNotFound, not_found)
    app.register_error_handler(WebhookRefused, refused)
    app.register_error_handler(WebhookInTheWay, in_the_way)
    app.register_error_handler(WebhookNotActive, not_active)
    app.register_error_handler(OwnWebhook, own)
    app.register_error_handler(AnotherWebhook, another)
    app.register_error_handler(WebhooksOff, off)


def _sentence(error: Exception) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."
