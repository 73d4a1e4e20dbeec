"""/v1/session: sign in with a key or a token, who am I, sign out."""

from __future__ import annotations

from typing import Any, Final

import marshmallow as ma
import structlog
from flask import Response, jsonify

from alert_api.api.session_cookie import current_session, give, named_session, take_back
from alert_api.service.sessions import Session, SessionDesk
from tripline_http.auth import identify, identify_by
from tripline_http.fields import MAX_MS, Text
from tripline_http.guards.own_origin import check_own_page
from tripline_http.keys.caller import Caller
from tripline_http.openapi import BEARER, ApiBlueprint, new_blueprint

log = structlog.get_logger(__name__)

MAX_CREDENTIAL: Final = 16_384
"""As long as a token may be."""
IN_A_HEADER: Final = r"^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$"
"""What the header of a request could carry, where a service is asked with it later."""
COOKIE_DOC: Final = {
    "Set-Cookie": {
        "description": "The session's id, for the browser: HttpOnly, Secure, SameSite=Strict, until it is closed",
        "schema": {"type": "string"},
    }
}


class SignIn(ma.Schema):
    """Who wants to be let in."""

    key = Text(
        1,
        MAX_CREDENTIAL,
        required=True,
        pattern=IN_A_HEADER,
        metadata={"description": "An API key, or a token of the trusted issuer", "writeOnly": True},
    )


class SessionSchema(ma.Schema):
    """Who calls, and what they may do."""

    actor = ma.fields.String(required=True)
    role = ma.fields.String(required=True, allow_none=True)
    scopes = ma.fields.List(ma.fields.String(), required=True)
    expiresAt = ma.fields.Integer(  # noqa: N815
        required=True,
        allow_none=True,
        metadata={
            "description": "When key, token or session ends, in ms; null: no end is known",
            "minimum": 0,
            "maximum": MAX_MS,
        },
    )
    csrfToken = ma.fields.String(  # noqa: N815
        required=True,
        allow_none=True,
        metadata={
            "description": "What each further request of the session has in X-CSRF-Token; null for a key in the header"
        },
    )


def session_blueprint(desk: SessionDesk) -> ApiBlueprint:
    """The three views."""
    blueprint = new_blueprint("session", __name__, "Sessions of the console: a cookie in place of a key")
    any_key: Any = {"security": [{BEARER: []}]}

    @blueprint.route("/v1/session", methods=["POST"])
    @blueprint.arguments(SignIn)
    @blueprint.response(201, SessionSchema, headers=COOKIE_DOC)
    @blueprint.problems(400, 401, 403, 413, 415, 429, 503)
    @blueprint.doc(operationId="signIn", security=[])
    def sign_in(body: dict[str, Any]) -> Response:
        """Sign in: a session for a browser, which keeps no key

        Programs need none: they send their key. A session ends after twelve hours, with its key or token, or when it is
        signed out. It counts for requests of this service's own page only, which have `csrfToken` in `X-CSRF-Token`.
        """
        # Another page could sign the browser in under a name of its own, and see what is done under it.
        check_own_page()
        caller = identify_by(body["key"])
        before = named_session()
        if before is not None:
            desk.end(before)
        session = desk.open(caller, body["key"])
        log.info("signed_in", until=session.expires_at)
        response = jsonify(_told(caller, session))
        response.status_code = 201
        give(response, session.session_id)
        return response

    @blueprint.route("/v1/session", methods=["GET"])
    @blueprint.response(200, SessionSchema)
    @blueprint.problems(401, 403, 429, 503)
    @blueprint.doc(operationId="whoAmI", **any_key)
    def who_am_i() -> dict[str, Any]:
        """Who am I, and what may I do

        For a key in the header and for the cookie of a session; it alone needs no `X-CSRF-Token`, for it says which.
        """
        caller = identify(token_needed=False)
        return _told(caller, current_session())

    @blueprint.route("/v1/session", methods=["DELETE"])
    @blueprint.response(204)
    @blueprint.problems(401, 403, 429, 503)
    @blueprint.doc(operationId="signOut", **any_key)
    def sign_out() -> Response:
        """Sign out: the cookie is worth nothing any more

        A key in the header has no session, so nothing ends.
        """
        identify()
        session, response = current_session(), Response(status=204)
        if session is not None:
            desk.end(session.session_id)
            log.info("signed_out")
            take_back(response)
        return response

    return blueprint


def _told(caller: Caller, session: Session | None) -> dict[str, Any]:
    end = None if caller.not_after is None else min(int(caller.not_after * 1000), MAX_MS)
    return {
        "actor": caller.name,
        "role": caller.role,
        "scopes": sorted(caller.scopes),
        "expiresAt": session.expires_at if session else end,
        "csrfToken": session.page_token if session else None,
    }
