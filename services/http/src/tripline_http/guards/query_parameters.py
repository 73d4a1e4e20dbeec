"""Refusal of query parameters that a view does not declare, and of those that come twice.

A caller who misspells a filter gets everything in place of a part; of two values one would win by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import marshmallow as ma
from flask import Flask, current_app, request

from tripline_http.errors import FieldError, invalid_input

View = TypeVar("View", bound=Callable[..., Any])

# On the view itself: functools.wraps hands it on to whatever wraps the view later.
_DECLARED = "_query_parameters"
_ANY = "_any_query_parameters"
_BY_THE_VIEW = "_query_parameters_checked_by_the_view"


def install_query_parameters(app: Flask) -> None:
    """Answers 422 before the view, naming each parameter that is unknown or repeated. Views without declaration take
    none."""

    def check() -> None:
        if not getattr(_asked_view(), _BY_THE_VIEW, False):
            require_declared()

    app.before_request(check)


def require_declared() -> None:
    """Raises the 422 problem for a parameter of this request that its view does not declare, or that comes twice."""
    view = _asked_view()
    if view is None or getattr(view, _ANY, False):
        return
    errors = _errors(declared_by(view))
    if errors:
        raise invalid_input(errors)


def checks_by_itself(view: View) -> View:
    """For a view that calls `require_declared` once it knows who asks: what is wrong with a request is told to those
    who may make it."""
    view.__dict__[_BY_THE_VIEW] = True
    return view


def declares(view: View, schema: type[ma.Schema] | ma.Schema) -> View:
    """Makes the fields of `schema` parameters of the view; those that are lists may be repeated."""
    fields = (schema() if isinstance(schema, type) else schema).load_fields
    names = {field.data_key or name: isinstance(field, ma.fields.List) for name, field in fields.items()}
    view.__dict__[_DECLARED] = {**declared_by(view), **names}
    return view


def takes_any_query(view: View) -> View:
    """For a view whose query somebody else reads: another service, or the page in the browser."""
    view.__dict__[_ANY] = True
    return view


def declared_by(view: Callable[..., Any]) -> Mapping[str, bool]:
    """The parameters of the view; true where one may be repeated."""
    declared: Mapping[str, bool] = getattr(view, _DECLARED, {})
    return declared


def _asked_view() -> Callable[..., Any] | None:
    return current_app.view_functions.get(request.endpoint or "")


def _errors(declared: Mapping[str, bool]) -> list[FieldError]:
    known = ", ".join(sorted(declared)) or "none"
    errors = []
    for name, values in request.args.lists():
        if name not in declared:
            errors.append(FieldError(f"query.{name}", f"unknown; known are: {known}"))
        elif len(values) > 1 and not declared[name]:
            errors.append(FieldError(f"query.{name}", "given more than once; expected once"))
    return errors
