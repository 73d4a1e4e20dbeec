"""Who calls, what they may do, and how often.

A request carries its API key as `Authorization: Bearer <key>`. The key's name is the actor of whatever it changes. An
app may know sessions too: then a request without that header is judged by the key that its session stands for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Protocol

import structlog
from flask import Flask, current_app, request
from prometheus_client import CollectorRegistry, Gauge

from tripline_http.errors import ProblemError
from tripline_http.keys.authenticator import Authenticator
from tripline_http.keys.caller import Caller
from tripline_http.keys.key_file import ApiKey
from tripline_http.keys.rate_limit import RateLimit, RateLimiter
from tripline_http.keys.stored_keys import KeyStore, StoredKeys
from tripline_http.keys.watched_key_file import WatchedKeyFile
from tripline_http.tokens.issuer import Issuer

_EXTENSION = "tripline_authenticator"
_LIMITER = "tripline_rate_limiter"
_SESSIONS = "tripline_sessions"
_CALLER = "tripline.caller"
_CREDENTIAL = "tripline.credential"


class Sessions(Protocol):
    """What a page of this service has in place of a key in its requests' headers."""

    def credential(self, *, token_needed: bool) -> str | None:
        """The key or token that this request's session stands for; None where the request names no session.

        Raises the 403 problem for a request that is not from a page of ours (where it is `token_needed`, it has the
        session's token), and the 401 problem for a session that is not open any more.
        """

    def ended(self) -> ProblemError:
        """Ends the session, whose key or token is good no more, and gives the problem to raise."""

    def watch(self) -> Callable[[], bool]:
        """A check that the session is still open, to be called later and outside of this request."""


def install_api_keys(app: Flask, keys: Iterable[ApiKey], registry: CollectorRegistry) -> None:
    """Makes these keys the ones that the app knows. `keys` is gone through at each request, so it may change."""
    app.extensions[_EXTENSION] = Authenticator(keys)
    refused = Gauge(
        "tripline_api_key_file_refused",
        "1 while the file of API keys is broken and the keys are those of before.",
        registry=registry,
    )
    if isinstance(keys, WatchedKeyFile):
        refused.set_function(lambda: float(keys.is_refused))


def install_tokens(
    app: Flask,
    issuer: Issuer | None,
    registry: CollectorRegistry,
    steady: Callable[[], float] = time.monotonic,
) -> None:
    """Lets in the issuer's tokens beside the keys; where there is no issuer, none. `steady` gives seconds."""
    if issuer is None:
        return
    # Each process with metrics imports this module; who trusts no issuer loads no cryptography.
    from tripline_http.tokens.issuer_client import IssuerClient  # noqa: PLC0415
    from tripline_http.tokens.signing_keys import SigningKeys  # noqa: PLC0415
    from tripline_http.tokens.token_verifier import TokenVerifier  # noqa: PLC0415

    keys = SigningKeys(IssuerClient(issuer.url).key_set, steady)
    authenticator: Authenticator = app.extensions[_EXTENSION]
    authenticator.tokens = TokenVerifier(issuer, keys)
    unreachable = Gauge(
        "tripline_token_issuer_unreachable",
        "1 while the issuer of tokens could not be asked for its keys the last time.",
        registry=registry,
    )
    unreachable.set_function(lambda: float(keys.is_unreachable))


def install_stored_keys(
    app: Flask,
    store: KeyStore,
    steady: Callable[[], float] = time.monotonic,
    wall: Callable[[], float] = time.time,
) -> None:
    """Lets in the keys of the store beside those of the file. `steady` and `wall` give seconds."""
    authenticator: Authenticator = app.extensions[_EXTENSION]
    authenticator.stored = StoredKeys(store, steady, wall)


def install_sessions(app: Flask, sessions: Sessions) -> None:
    """Lets in requests that belong to a session."""
    app.extensions[_SESSIONS] = sessions


def install_rate_limit(app: Flask, limit: RateLimit) -> None:
    """Bounds the requests of each caller; what asks for no key (health, documents) is not counted."""
    if limit.per_second:
        app.extensions[_LIMITER] = RateLimiter(limit)


def authorize(scope: str) -> None:
    """Passes if the request's key holds `scope`; else raises the 401, 403 or 429 problem. Sets the actor."""
    caller = identify()
    if scope not in caller.scopes:
        # For the line with the request's status: who tried, and from where.
        structlog.contextvars.bind_contextvars(address=_peer())
        challenge = f'Bearer realm="tripline", error="insufficient_scope", scope="{scope}"'
        raise ProblemError(
            403,
            "insufficient-scope",
            f"This key may not do that: it lacks the scope {scope}.",
            headers={"WWW-Authenticate": challenge},
        )


def identify(*, token_needed: bool = True) -> Caller:
    """Who makes the request, whatever they may do; else raises the 401, 403 or 429 problem. Sets the actor.

    Requests of a session need its token, unless they ask for it.
    """
    known: Caller | None = request.environ.get(_CALLER)
    if known is not None:
        # Asked for before: one request is counted once.
        return known
    authenticator: Authenticator = current_app.extensions[_EXTENSION]
    header, sessions = request.headers.get("Authorization"), _sessions()
    if header is None and sessions is not None:
        credential = sessions.credential(token_needed=token_needed)
        if credential is not None:
            return _let_in(_judged(authenticator, sessions, credential), credential)
    caller = authenticator.authenticate(header or "", _peer())
    return _let_in(caller, (header or "").partition(" ")[2].strip())


def identify_by(credential: str) -> Caller:
    """Whose key or token this is, as if the request had it in its header."""
    authenticator: Authenticator = current_app.extensions[_EXTENSION]
    return _let_in(authenticator.judge(credential, _peer()), credential)


def current_credential() -> str:
    """The key or token of this request, to hand on to a service that judges it too; only behind `identify`."""
    _current_caller()
    return str(request.environ[_CREDENTIAL])


def recheck(scope: str) -> Callable[[], bool]:
    """A check, for an answer that takes long, whether who gets it may have it still.

    It may be called outside of the request. Where that cannot be told, it is true.
    """
    authenticator: Authenticator = current_app.extensions[_EXTENSION]
    credential, address, sessions = current_credential(), _peer(), _sessions()
    in_session = "Authorization" not in request.headers
    is_open = sessions.watch() if sessions is not None and in_session else lambda: True

    def may_still() -> bool:
        try:
            return is_open() and scope in authenticator.judge(credential, address, is_guess=False).scopes
        except ProblemError as problem:
            return problem.status not in (401, 403)

    return may_still


def _judged(authenticator: Authenticator, sessions: Sessions, credential: str) -> Caller:
    try:
        return authenticator.judge(credential, _peer(), is_guess=False)
    except ProblemError as problem:
        if problem.status == HTTPStatus.UNAUTHORIZED:
            raise sessions.ended() from problem
        raise


def _let_in(caller: Caller, credential: str) -> Caller:
    structlog.contextvars.bind_contextvars(actor=caller.name)
    limiter: RateLimiter | None = current_app.extensions.get(_LIMITER)
    if limiter is not None:
        limiter.count(caller.name)
    request.environ[_CALLER], request.environ[_CREDENTIAL] = caller, credential
    return caller


def _sessions() -> Sessions | None:
    sessions: Sessions | None = current_app.extensions.get(_SESSIONS)
    return sessions


def current_actor() -> str:
    """The name of who makes this request; only behind `authorize` or `identify`."""
    return _current_caller().name


def current_scopes() -> frozenset[str]:
    """What the caller that `authorize` let through may do."""
    return _current_caller().scopes


def current_role() -> str | None:
    """The role of who makes this request, None for a key of scopes alone; only behind `authorize` or `identify`."""
    return _current_caller().role


def _current_caller() -> Caller:
    caller = request.environ.get(_CALLER)
    if not isinstance(caller, Caller):
        # A view that asks for its actor without having required a scope is a programming error.
        raise RuntimeError("no actor: the view does not require a scope")
    return caller


def _peer() -> str:
    """The address at the other end of the connection. Headers that name another one are not believed."""
    return request.remote_addr or "unknown"
