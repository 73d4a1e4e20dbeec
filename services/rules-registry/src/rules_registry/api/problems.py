"""The problem document of each error of the registry: the only place that knows both."""

from __future__ import annotations

from flask import Flask, Response

from rules_registry import errors
from rules_registry.api.rule_schemas.representations import import_json
from rules_registry.domain.backtests.errors import BacktestNotFound, NobodyRunsBacktests, NoRules
from rules_registry.domain.rule_import import ImportRefused
from tripline_http.errors import FieldError, ProblemError
from tripline_http.etags import etag_of
from tripline_http.problems import problem_response

_KINDS: dict[type[errors.RegistryError], tuple[int, str]] = {
    errors.RuleNotFound: (404, "rule-not-found"),
    # 404 and not 410: to a client that has only the id, what is deleted is not there; the problem type tells.
    errors.RuleIsDeleted: (404, "rule-deleted"),
    errors.KeyNotFound: (404, "key-not-found"),
    errors.KeyNameTaken: (409, "key-name-taken"),
    errors.KeyIsRevoked: (409, "key-revoked"),
    errors.CommandNotFound: (404, "command-not-found"),
    errors.NameNotFound: (404, "name-not-found"),
    errors.UnknownNames: (422, "unknown-name"),
    errors.TooMuchHistory: (422, "too-much-history"),
    errors.EndsTooEarly: (422, "ends-too-early"),
    errors.UnfitDefinition: (422, "unfit"),
    ImportRefused: (422, "import-refused"),
    BacktestNotFound: (404, "backtest-not-found"),
    NoRules: (409, "no-rules"),
    NobodyRunsBacktests: (503, "not-connected"),
    errors.VersionNotFound: (404, "version-not-found"),
    errors.StaleVersion: (412, "stale-version"),
    errors.NameTaken: (409, "name-taken"),
    errors.WrongState: (409, "wrong-state"),
    errors.QuotaExceeded: (409, "quota-exceeded"),
    errors.ChangeNotFound: (404, "change-not-found"),
    errors.IllegalStep: (409, "illegal-step"),
    errors.OpenChange: (409, "open-change"),
    errors.BaseMoved: (409, "base-moved"),
    errors.OtherRevision: (409, "other-revision"),
    errors.NotApprovedBefore: (409, "not-approved-before"),
    errors.SamePerson: (403, "same-person"),
    errors.NotAnEditor: (403, "not-an-editor"),
    errors.ReasonNeeded: (422, "reason-needed"),
    errors.IdempotencyKeyReused: (422, "idempotency-key-reused"),
    errors.ConcurrentChange: (409, "concurrent-change"),
    errors.StoreUnavailable: (503, "store-unavailable"),
}


def install_registry_problems(app: Flask) -> None:
    """Answers the registry's errors as problems; those not named here are faults, and 500."""
    for kind in _KINDS:
        app.register_error_handler(kind, _answer)


def _answer(error: errors.RegistryError) -> Response:
    status, kind = _KINDS[type(error)]
    headers: dict[str, str] = {}
    extra: dict[str, object] = {}
    if isinstance(error, errors.StaleVersion):
        headers["ETag"] = etag_of(error.current)
        extra["currentVersion"] = error.current
    if isinstance(error, errors.QuotaExceeded):
        extra |= {"quota": error.quota, "used": error.used, "allowed": error.allowed}
    if isinstance(error, errors.IllegalStep):
        extra |= {"state": error.state, "legal": list(error.legal)}
    if isinstance(error, errors.NameTaken):
        extra["ruleId"] = error.rule_id
    if isinstance(error, errors.OpenChange):
        extra["changeId"] = error.change_id
    if isinstance(error, ImportRefused):
        return _refused_import(error, status, kind)
    fields = [
        FieldError(problem.field, problem.message)
        for problem in (error.problems if isinstance(error, errors.UnfitDefinition) else ())
    ]
    if status == 503:
        headers["Retry-After"] = "2"
    return problem_response(
        ProblemError(status, kind, str(error), errors=fields, extra=extra, headers=headers)
    )


def _refused_import(error: ImportRefused, status: int, kind: str) -> Response:
    """The same results as those of an import that was taken, and each wrong field as in other problems."""
    fields = [
        FieldError(f"lines.{result.number}.{problem.field}", problem.message)
        for result in error.results
        for problem in result.problems
    ]
    extra = import_json(error.results)
    return problem_response(ProblemError(status, kind, str(error), errors=fields, extra=extra))
