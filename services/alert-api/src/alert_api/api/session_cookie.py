"""The cookie of a session: read from requests, and believed where a page of this service sent it.

A browser sends a cookie with whatever any page makes it ask for. So a request counts only if the browser does not say
that a page of another origin made it, and if it has the session's token in a header, which no other page knows and no
form can send. `SameSite=Strict` keeps most of those away before.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from typing import Final

from flask import Response, g, request

from alert_api.errors import StoreUnavailable
from alert_api.service.sessions import Session, SessionDesk
from tripline_http.errors import FieldError, ProblemError
from tripline_http.guards.own_origin import check_own_page

COOKIE: Final = "__Host-tripline-session"
"""The prefix makes browsers take it only with `Secure`, for this host alone and from no other one."""
TOKEN_HEADER: Final = "X-CSRF-Token"  # noqa: S105 - the name of a header
_ID: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


class CookieSessions:
    """``Sessions`` of `tripline_http.auth` by cookie."""

    def __init__(self, desk: SessionDesk) -> None:
        self._desk = desk

    def credential(self, *, token_needed: bool) -> str | None:
        """See the protocol. Raises StoreUnavailable as well."""
        session_id = named_session()
        if session_id is None:
            return None
        check_own_page()
        token = request.headers.get(TOKEN_HEADER)
        if token is None and token_needed:
            raise _no_token("expected the csrfToken of GET /v1/session")
        session = self._desk.find(session_id)
        if session is None:
            raise _over()
        if token is not None and not hmac.compare_digest(token.encode(), session.page_token.encode()):
            # A page that was there before somebody signed in anew in this browser: it shows what another may do.
            raise _no_token("not the token of the session that this browser has now")
        g.session = session
        return session.credential

    def ended(self) -> ProblemError:
        """See the protocol."""
        session_id = named_session()
        if session_id is not None:
            self._desk.end(session_id)
        return _over()

    def watch(self) -> Callable[[], bool]:
        """See the protocol."""
        session_id, desk = named_session(), self._desk

        def is_open() -> bool:
            try:
                return session_id is None or desk.find(session_id) is not None
            except StoreUnavailable:
                return True

        return is_open


def named_session() -> str | None:
    """The id in this request's cookie; None where there is none, or nothing that could be one."""
    session_id = request.cookies.get(COOKIE, "")
    return session_id if _ID.fullmatch(session_id) else None


def current_session() -> Session | None:
    """The session that this request belongs to; None for one with a key in its header. Only behind `identify`."""
    session: Session | None = g.get("session")
    return session


def give(response: Response, session_id: str) -> None:
    """Makes the browser keep it until it is closed; scripts cannot read it."""
    response.set_cookie(COOKIE, session_id, path="/", secure=True, httponly=True, samesite="Strict")


def take_back(response: Response) -> None:
    """Makes the browser forget it."""
    response.delete_cookie(COOKIE, path="/", secure=True, httponly=True, samesite="Strict")


def _over() -> ProblemError:
    empty = Response()
    take_back(empty)
    headers = {
        "Set-Cookie": empty.headers["Set-Cookie"],
        "WWW-Authenticate": 'Bearer realm="tripline"',
    }
    return ProblemError(401, "session-ended", "This session has ended: sign in again.", headers=headers)


def _no_token(expected: str) -> ProblemError:
    return ProblemError(
        403,
        "csrf-token",
        "The cookie of a session counts for the console's own requests. Programs send a key as 'Authorization: Bearer "
        "<key>'.",
        errors=[FieldError(f"header.{TOKEN_HEADER}", expected)],
    )
