"""flask-smorest with our conventions, and typed.

Errors are documented as what they are (`application/problem+json`), keys as a bearer scheme, and every
decorator of a view that changes what an operation answers also documents it. The order on a view, outermost
first:

    @blueprint.route("/v1/rules/<int(min=1):rule_id>", methods=["PUT"])
    @blueprint.requires("rules:write")      # 401, 403, 429, 503
    @blueprint.if_match                     # 428, 400; passes `IfMatch`
    @blueprint.json_body("RuleBody", {...}) # 400, 413, 415; passes the parsed object
    @blueprint.arguments(Query, location="query")  # 422; passes the parsed query
    @blueprint.response(200, RuleSchema)
    @blueprint.problems(404, 412)

Path arguments come by name; the others by position, in the order of the decorators.
"""

from __future__ import annotations

import copy
import functools
import json
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, TypeVar, cast

import flask_smorest
from flask import Flask, Request, request
from flask_smorest.utils import deepupdate
from webargs.flaskparser import FlaskParser

from tripline_http.auth import authorize
from tripline_http.docs.docs_page import docs_blueprint
from tripline_http.errors import FieldError, ProblemError, invalid_input
from tripline_http.etags import IF_MATCH_PATTERN, read_if_match
from tripline_http.guards.query_parameters import checks_by_itself, declares, require_declared
from tripline_http.json_bodies import read_json
from tripline_http.problems import PROBLEM_TYPE, ProblemSchema

View = TypeVar("View", bound=Callable[..., Any])
Doc = Mapping[str, Any]
BEARER = "apiKey"
IF_MATCH_DOC: Doc = {
    "in": "header",
    "name": "If-Match",
    "required": True,
    "description": 'The version that the caller has seen, like "3"; * for any',
    "schema": {"type": "string", "pattern": IF_MATCH_PATTERN},
}


OPTIONAL_IF_MATCH_DOC: Doc = {
    **IF_MATCH_DOC,
    "required": False,
    "description": 'The version that the caller has seen, like "3"; "0" for what does not exist yet, * for what does',
}


class StrictParser(FlaskParser):
    """webargs' parser with our reading of JSON bodies."""

    def _raw_load_json(self, req: Request) -> Any:
        value = read_json(req)
        if value is None:
            # webargs takes it for a body that was left out, and that for an empty object
            raise invalid_input([FieldError("body", "expected a JSON object")])
        return value


class Api(flask_smorest.Api):  # type: ignore[misc]
    """The API of a Flask app; errors are left to `error_handlers`.

    Its document is written when it is first asked for: to describe all operations is half of what an app takes to be
    made, and tests make thousands.
    """

    ERROR_SCHEMA = ProblemSchema

    def __init__(self, app: Flask, **options: Any) -> None:
        self._undescribed: list[Callable[[], None]] = []
        self._describing = threading.Lock()
        super().__init__(app, **options)

    def describe_later(self, describe: Callable[[], None]) -> None:
        """Calls that when the document is asked for."""
        self._undescribed.append(describe)

    def document(self) -> dict[str, Any]:
        """The whole OpenAPI document."""
        with self._describing:
            for describe in self._undescribed:
                describe()
            self._undescribed.clear()
        document: dict[str, Any] = self.spec.to_dict()
        return document

    def _openapi_json(self) -> Any:
        self.document()
        return super()._openapi_json()

    def _register_responses(self) -> None:
        content_type: str = flask_smorest.Api.DEFAULT_RESPONSE_CONTENT_TYPE
        self.DEFAULT_RESPONSE_CONTENT_TYPE: str = PROBLEM_TYPE
        super()._register_responses()
        self.DEFAULT_RESPONSE_CONTENT_TYPE = content_type

    def _register_pagination_header(self) -> None:
        """Pages are cursors and links here, not numbers."""

    def _register_error_handlers(self) -> None:
        """flask-smorest's handler loses `Allow` and speaks another dialect."""


class ApiBlueprint(flask_smorest.Blueprint):  # type: ignore[misc]
    """A blueprint whose decorators keep types and document what they do."""

    ARGUMENTS_PARSER = StrictParser()

    def register_views_in_doc(self, api: Api, *given: Any, **named: Any) -> None:
        """Describes the views in the document, once somebody asks for it."""
        api.describe_later(functools.partial(super().register_views_in_doc, api, *given, **named))

    def route(self, rule: str, **options: Any) -> Callable[[View], View]:
        """Registers the view under this path. Each may answer 422: the app refuses unknown query parameters."""
        register = cast("Callable[[View], View]", super().route(rule, **options))
        return lambda view: register(self.problems(422)(view))

    def arguments(self, schema: Any, *, location: str = "json", **options: Any) -> Callable[[View], View]:
        """Parses query or body with a marshmallow schema; 422 with a list of fields otherwise."""
        parsing = cast("Callable[[View], View]", super().arguments(schema, location=location, **options))
        if location != "query":
            return parsing
        return lambda view: declares(parsing(view), schema)

    def response(self, status_code: int, schema: Any = None, **options: Any) -> Callable[[View], View]:
        """Says what success is, and dumps it."""
        return cast("Callable[[View], View]", super().response(status_code, schema, **options))

    def or_response(self, status_code: int, schema: Any, **options: Any) -> Callable[[View], View]:
        """Says what success may be besides; the view answers it by itself."""
        return cast(
            "Callable[[View], View]", self.alt_response(status_code, schema=schema, success=True, **options)
        )

    def doc(self, **members: Any) -> Callable[[View], View]:
        """Adds members to the operation's description; flask-smorest's own would wrap the view as well."""

        def decorate(view: View) -> View:
            documented = getattr(view, "_apidoc", {})
            before = copy.deepcopy(documented.get("manual_doc", {}))
            view.__dict__["_apidoc"] = {**documented, "manual_doc": deepupdate(before, members)}
            return view

        return decorate

    def problems(self, *statuses: int) -> Callable[[View], View]:
        """Documents that the operation may answer with these problems.

        As `alt_response` would, which wraps the view and copies all that it documents for each of them.
        """

        def decorate(view: View) -> View:
            documented = getattr(view, "_apidoc", {})
            response = documented.get("response", {})
            known = response.get("responses", {})
            more = {status: [*known.get(status, []), HTTPStatus(status).name] for status in statuses}
            view.__dict__["_apidoc"] = {
                **documented,
                "response": {**response, "responses": {**known, **more}},
            }
            return view

        return decorate

    def requires(self, scope: str) -> Callable[[View], View]:
        """Lets only callers with this scope through."""

        def decorate(view: View) -> View:
            @functools.wraps(view)
            def guarded(*args: Any, **kwargs: Any) -> Any:
                authorize(scope)
                require_declared()
                return view(*args, **kwargs)

            documented = self.doc(security=[{BEARER: []}], **{"x-required-scope": scope})
            return cast("View", documented(self.problems(401, 403, 429, 503)(checks_by_itself(guarded))))

        return decorate

    def if_match(self, view: View) -> View:
        """Needs `If-Match` and passes it on as `etags.IfMatch`."""

        @functools.wraps(view)
        def conditional(*args: Any, **kwargs: Any) -> Any:
            return view(*args, read_if_match(), **kwargs)

        return with_parameter(self.problems(400, 412, 428)(cast("View", conditional)), IF_MATCH_DOC)

    def optional_if_match(self, view: View) -> View:
        """Passes `If-Match` on as `etags.IfMatch`, or None where the caller sent none."""

        @functools.wraps(view)
        def conditional(*args: Any, **kwargs: Any) -> Any:
            return view(*args, read_if_match() if "If-Match" in request.headers else None, **kwargs)

        return with_parameter(self.problems(400, 412)(cast("View", conditional)), OPTIONAL_IF_MATCH_DOC)

    def parameter(self, parameter: Doc) -> Callable[[View], View]:
        """Documents a parameter that the view reads itself (a header)."""
        return lambda view: with_parameter(view, parameter)

    def json_body(
        self, name: str, *, description: str = "", max_bytes: int | None = None
    ) -> Callable[[View], View]:
        """Reads a JSON object strictly and passes it on; `name` is its schema among the components.

        For bodies whose grammar is not marshmallow's: the view validates. `max_bytes` is for what is longer than the
        app lets in.
        """
        doc = {
            "required": True,
            "description": description,
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}},
        }

        def decorate(view: View) -> View:
            @functools.wraps(view)
            def reading(*args: Any, **kwargs: Any) -> Any:
                if max_bytes is not None:
                    request.max_content_length = max_bytes
                return view(*args, _read_object(), **kwargs)

            return self.doc(requestBody=doc)(self.problems(400, 413, 415, 422)(cast("View", reading)))

        return decorate


def _read_object() -> dict[str, Any]:
    body = read_json(request)
    if not isinstance(body, dict):
        errors = [FieldError("body", "expected a JSON object")]
        raise ProblemError(422, "invalid-input", "The request has invalid fields.", errors=errors)
    return body


def with_parameter(view: View, parameter: Doc) -> View:
    """Adds to the operation's parameters; `doc` would replace those added before."""
    documented = getattr(view, "_apidoc", {})
    parameters = [*documented.get("manual_parameters", []), dict(parameter)]
    view.__dict__["_apidoc"] = {**documented, "manual_parameters": parameters}
    return view


def _prepare_manual_parameters(doc: dict[str, Any], info: Doc, **_: Any) -> dict[str, Any]:
    doc.setdefault("parameters", []).extend(info.get("manual_parameters", []))
    return doc


def new_blueprint(name: str, import_name: str, description: str) -> ApiBlueprint:
    """A blueprint that is one tag of the API."""
    blueprint = ApiBlueprint(name, import_name, description=description)
    # flask-smorest's hook list is its documented way to add to operations.
    blueprint._prepare_doc_cbks.append(_prepare_manual_parameters)  # noqa: SLF001
    return blueprint


def install_api(app: Flask, *, title: str, version: str, description: str) -> Api:
    """Sets OpenAPI 3.1 up for the app; the document is served at `/openapi.json`, and for people at
    `/docs`. Register blueprints on it."""
    app.config.update(
        API_TITLE=title,
        API_VERSION=version,
        OPENAPI_VERSION="3.1.0",
        OPENAPI_URL_PREFIX="/",
        OPENAPI_JSON_PATH="openapi.json",
    )
    app.register_blueprint(docs_blueprint())
    api = Api(app, spec_kwargs={"info": {"description": description}})
    scheme = {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key, or a token of the trusted issuer; its role says what it may do",
    }
    api.spec.components.security_scheme(BEARER, scheme)
    return api


def openapi_text(api: Api) -> str:
    """The document as it is committed under contracts/openapi: stable order, one newline at the end.

    It is ASCII, because patterns name characters that nobody could see.
    """
    return json.dumps(api.document(), indent=2, sort_keys=True) + "\n"
