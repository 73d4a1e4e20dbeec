"""/v1/rules/import: rule files as they are found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from flask import Response, request

from rules_registry.api.actor import actor_of_request, takes_reason
from rules_registry.api.idempotency import IDEMPOTENCY_KEY_DOC, repeatable, response_of
from rules_registry.api.rule_schemas.import_schemas import ImportQuery, ImportSchema
from rules_registry.api.rule_schemas.representations import import_json
from rules_registry.api.services import four_eyes, installed_type, registry
from rules_registry.domain.rule_import import ImportedControl
from rules_registry.service.ports import Answer
from rules_registry.service.rule_file_lines import ReadLine, count_lines, read_records, read_text
from rules_registry.service.rule_import import ImportOutcome
from tripline_contracts.errors import Problem
from tripline_contracts.event_type import EventType
from tripline_http.auth import identify
from tripline_http.errors import FieldError, ProblemError, bad_request, invalid_input
from tripline_http.json_bodies import read_json
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("imports", __name__, "Rule files")

MAX_RECORDS = 1000
_TEXTS = ("text/plain", "application/x-ndjson")
PLAIN_EXAMPLE = "PlainRuleFile"
_JSON = '{"ruleId": 1, "ruleState": "DELETE"}\n{"ruleState": "CONTROL", "controlType": "CLEAR_STATE_ALL"}\n'
_PLAIN = {"$ref": f"#/components/examples/{PLAIN_EXAMPLE}"}
_RECORD = {"type": "object", "minProperties": 1}
_BODY_DOC = {
    "required": True,
    "description": f"One record per line, in either form, or JSON; at most {MAX_RECORDS} records",
    "content": {
        "text/plain": {"schema": {"type": "string", "minLength": 1}, "examples": {"plain": _PLAIN}},
        "application/x-ndjson": {"schema": {"type": "string", "minLength": 1}, "example": _JSON},
        "application/json": {
            "schema": {
                "anyOf": [
                    _RECORD,
                    {"type": "array", "minItems": 1, "maxItems": MAX_RECORDS, "items": _RECORD},
                ]
            }
        },
    },
}


def plain_example(event_type: EventType) -> str:
    """A rule file in the plain form, for rules of this type."""
    keys, measure = "&".join(event_type.anchors[:-1]), next(iter(event_type.measures), "COUNT_FLINK")
    return f"(1),(active),({keys}),(),({measure}),(SUM),(>),(20000000),(43200)\n(2),(pause)\n"


@blueprint.route("/v1/rules/import", methods=["POST"])
@blueprint.requires("rules:write")
@blueprint.parameter(IDEMPOTENCY_KEY_DOC)
@blueprint.arguments(ImportQuery, location="query")
@takes_reason
@blueprint.response(200, ImportSchema)
@blueprint.problems(400, 409, 413, 415, 422, 503)
@blueprint.doc(operationId="importRules", requestBody=_BODY_DOC)
def import_rules(query: Mapping[str, Any]) -> Response:
    """Import rules, one record per line

    JSON or `(id),(state),(keys),(unique),(field),(function),(operator),(limit),(minutes)`, any case, brackets or none.
    ACTIVE on an unknown id publishes the rule under that id; on a known one it is the next version, and brings a paused
    rule back. PAUSE may bring its rule with it. CONTROL records are control commands and need the scope controls:write.
    Lines are taken in order; a refused one does not hold up the others, unless `atomic=true`. Where nothing could be
    taken, or `atomic` let nothing happen, the answer is 422, with the same results.
    """
    if four_eyes():
        raise ProblemError(
            409,
            "needs-approval",
            "Rule files are not imported where a second person has to approve each change: send each rule by itself.",
        )
    lines, content = _read_body()
    if "controls:write" not in identify().scopes:
        lines = [_without_controls(line) for line in lines]
    atomic = query["atomic"] == "true"
    answer = registry().import_rules(
        actor_of_request(), lines, _imported, repeatable([atomic, content]), atomic=atomic
    )
    return response_of(answer)


def _read_body() -> tuple[Sequence[ReadLine], object]:
    """The lines, and what they were read from."""
    if request.is_json:
        value = read_json(request)
        records = value if isinstance(value, list) else [value]
        _require_few(len(records))
        lines, content = read_records(records, installed_type()), value
    elif request.mimetype in _TEXTS:
        content = _text(request.get_data(cache=False))
        _require_few(count_lines(content))
        lines = read_text(content, installed_type())
    else:
        accepted = ", ".join((*_TEXTS, "application/json"))
        raise ProblemError(
            415,
            "unsupported-media-type",
            f"Send the records with one of these as Content-Type: {accepted}.",
            headers={"Accept": accepted},
        )
    return lines, content


def _require_few(records: int) -> None:
    """Raises the 422 problem, before any of them is read."""
    if not 1 <= records <= MAX_RECORDS:
        raise invalid_input([FieldError("body", f"expected 1 to {MAX_RECORDS} records, not {records}")])


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise bad_request("The body is not UTF-8.") from error


def _without_controls(line: ReadLine) -> ReadLine:
    if not isinstance(line.wanted, ImportedControl):
        return line
    problem = Problem("controlType", "a control command needs a key with the scope controls:write")
    return replace(line, wanted=None, problems=(problem,))


def _imported(outcome: ImportOutcome) -> Answer:
    return Answer(200, {}, import_json(outcome.results))
