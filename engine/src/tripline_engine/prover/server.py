"""The prover's HTTP API, for the alert API and the registry alone: JSON in, JSON out, a key in every request.

| path | body | answer |
|---|---|---|
| `POST /v1/verifications` | `{"alert"}` | the outcome, with the differences |
| `POST /v1/windows` | `{"alert", "condition", "of", "after", "limit"}` | a page of contributors |
| `POST /v1/judgements` | `{"transactionId", "eventTime"}` | what each rule made of a transaction |
| `POST /v1/backtests/start` | `{"key", "rules", "from", "until", …}`, see `backtest_body` | how it stands |
| `POST /v1/backtests/estimate` | `{"key", "rule", "days", "transactions", "seconds"}` | how it stands |
| `POST /v1/backtests/status` | `{"key"}` | how it stands, with its result when it is done |
| `POST /v1/backtests/alerts` | `{"key", "after", "limit"}` | alerts that it gave |
| `POST /v1/backtests/end` | `{"key"}` | it is ended and forgotten |

A refusal is `{"reason", "detail"}`: 400 `unreadable`, 401 `key`, 404 `nothing-there`, 409 `history-missing`, 422
`too-much`, 503 `busy` or `unavailable`.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import structlog

from tripline_contracts.event_type import MAX_TIMESTAMP
from tripline_engine.domain.proof.claim import UnreadableClaim
from tripline_engine.errors import EngineError
from tripline_engine.prover.backtest_body import read_backtest, read_estimate, read_integer
from tripline_engine.prover.backtest_desk import BacktestDesk
from tripline_engine.prover.errors import Busy, HistoryMissing, NothingThere, TooMuch
from tripline_engine.prover.judgement import Asked
from tripline_engine.prover.prover import Prover
from tripline_engine.prover.window_page import Of, PageAsked

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

_log = structlog.get_logger(__name__)
MAX_BODY_BYTES: Final = 16 << 20
_MAX_PAGE: Final = 1_000
_REASONS: Final[tuple[tuple[type[EngineError], HTTPStatus, str], ...]] = (
    (HistoryMissing, HTTPStatus.CONFLICT, "history-missing"),
    (TooMuch, HTTPStatus.UNPROCESSABLE_ENTITY, "too-much"),
    (NothingThere, HTTPStatus.NOT_FOUND, "nothing-there"),
    (Busy, HTTPStatus.SERVICE_UNAVAILABLE, "busy"),
    (EngineError, HTTPStatus.SERVICE_UNAVAILABLE, "unavailable"),
)

Body = Mapping[str, Any]


class ProverApplication:
    """A WSGI application."""

    def __init__(self, prover: Prover, key: str, desk: BacktestDesk) -> None:
        self._key = f"Bearer {key}".encode()
        self._answers: Mapping[str, Callable[[Body], dict[str, Any]]] = {
            "/v1/verifications": lambda body: prover.verification(_alert(body)),
            "/v1/windows": lambda body: prover.window(_alert(body), _page(body)),
            "/v1/judgements": lambda body: prover.judgement(_transaction(body)),
            "/v1/backtests/start": lambda body: desk.start(_key(body), read_backtest(body)),
            "/v1/backtests/estimate": lambda body: desk.start(_key(body), read_estimate(body)),
            "/v1/backtests/status": lambda body: desk.status(_key(body)),
            "/v1/backtests/alerts": lambda body: desk.alerts(
                _key(body),
                read_integer(body, "after", 0, 10**9),
                read_integer(body, "limit", 1, _MAX_PAGE),
            ),
            "/v1/backtests/end": lambda body: desk.end(_key(body)),
        }

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answers one request."""
        status, answer = self._answer(environ)
        body = json.dumps(answer).encode()
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
        ]
        start_response(f"{status.value} {status.phrase}", headers)
        return [body]

    def _answer(self, environ: WSGIEnvironment) -> tuple[HTTPStatus, dict[str, Any]]:
        presented = environ.get("HTTP_AUTHORIZATION", "").encode("latin-1", "replace")
        if not hmac.compare_digest(presented, self._key):
            return HTTPStatus.UNAUTHORIZED, _refusal(
                "key", "The prover's key is asked for as a bearer token."
            )
        answer = self._answers.get(environ["PATH_INFO"])
        if answer is None:
            return HTTPStatus.NOT_FOUND, _refusal("path", "There is nothing here.")
        if environ["REQUEST_METHOD"] != "POST":
            return HTTPStatus.METHOD_NOT_ALLOWED, _refusal("method", "Only POST is answered.")
        try:
            return HTTPStatus.OK, answer(_body(environ))
        except UnreadableClaim as error:
            return HTTPStatus.BAD_REQUEST, _refusal("unreadable", str(error))
        except EngineError as error:
            status, reason = next(
                (status, reason) for kind, status, reason in _REASONS if isinstance(error, kind)
            )
            _log.warning("no_proof", reason=reason, detail=str(error))
            return status, _refusal(reason, str(error))


def _body(environ: WSGIEnvironment) -> Body:
    length = environ.get("CONTENT_LENGTH") or "0"
    if not length.isdigit() or int(length) > MAX_BODY_BYTES:
        raise UnreadableClaim(f"body: expected at most {MAX_BODY_BYTES} bytes")
    try:
        body = json.loads(environ["wsgi.input"].read(int(length)))
    except (ValueError, RecursionError) as error:
        raise UnreadableClaim(f"body: expected JSON: {error}") from error
    if not isinstance(body, dict):
        raise UnreadableClaim("body: expected an object")
    return body


def _alert(body: Body) -> Mapping[str, Any]:
    alert = body.get("alert")
    if not isinstance(alert, dict):
        raise UnreadableClaim("alert: expected an object")
    return alert


def _page(body: Body) -> PageAsked:
    return PageAsked(
        condition=read_integer(body, "condition", 0, 1_000),
        of=_of(body),
        after=read_integer(body, "after", 0, 10**9),
        limit=read_integer(body, "limit", 1, _MAX_PAGE),
    )


def _of(body: Body) -> Of:
    match body.get("of", "value"):
        case "value":
            return "value"
        case "limit":
            return "limit"
        case _:
            raise UnreadableClaim("of: expected value or limit")


def _transaction(body: Body) -> Asked:
    transaction_id = body.get("transactionId")
    if not isinstance(transaction_id, str) or not transaction_id:
        raise UnreadableClaim("transactionId: expected a text")
    event_time = body.get("eventTime")
    return Asked(
        transaction_id, None if event_time is None else read_integer(body, "eventTime", 0, MAX_TIMESTAMP)
    )


def _key(body: Body) -> str:
    key = body.get("key")
    if not isinstance(key, str) or not key:
        raise UnreadableClaim("key: expected a text")
    return key


def _refusal(reason: str, detail: str) -> dict[str, Any]:
    return {"reason": reason, "detail": detail}
