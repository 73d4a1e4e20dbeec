"""/v1/cases/…/graph: between whom the transactions of a case went."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, jsonify

from alert_api.api.cases.case_readings import CASE_PATH, component
from alert_api.service.cases.case_graph import MOST_EDGES, CaseGraph, Ends, ends_of
from alert_api.service.cases.case_queries import CaseReader
from tripline_contracts.event_type import EventType
from tripline_http.fields import MAX_MS
from tripline_http.openapi import ApiBlueprint

_COUNT: Final = {"type": "integer", "minimum": 0}
_FIELD: Final = {"type": ["string", "null"]}


def add_case_graph(blueprint: ApiBlueprint, cases: CaseReader, event_type: EventType) -> None:
    """The view."""

    @blueprint.route(f"{CASE_PATH}/graph", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, component("CaseGraph"))
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="getCaseGraph")
    def get_case_graph(case_id: int) -> Response:
        """Between whom the transactions of a case went

        Those that its newest 500 alerts are about, each counted once. Of a case about a party, or about the field of
        one of its sides, they go from the values of the party's first side to those of another one; else from the first
        field that rules run by to the second one. Of an event type with one such field and no party both are null, and
        there are no edges. The 60 edges with the most transactions are listed, and `edgeCount` says how many there are.
        """
        ends = ends_of(event_type, cases.get(case_id).case.subject.field)
        graph = CaseGraph() if ends is None else cases.graph(case_id, ends)
        return jsonify(graph_json(ends, graph))


def graph_json(ends: Ends | None, graph: CaseGraph) -> dict[str, Any]:
    """The graph as callers see it."""
    return {
        "sourceField": ends and ends.source,
        "targetField": ends and ends.target,
        "measureField": ends and ends.measure,
        "party": ends and ends.party and ends.party.name,
        "alerts": graph.alerts,
        "transactions": graph.transactions,
        "withBothParties": graph.with_both,
        "edgeCount": graph.edge_count,
        "edges": [
            {
                "source": edge.source,
                "target": edge.target,
                "transactions": edge.transactions,
                "total": edge.total,
                "last": edge.last,
            }
            for edge in graph.edges
        ],
    }


def graph_components() -> dict[str, dict[str, Any]]:
    """The answer as JSON Schema."""
    edge = {
        "source": {"type": "string"},
        "target": {"type": "string"},
        "transactions": {"type": "integer", "minimum": 1},
        "total": {"type": ["string", "null"], "description": "Of the measure, as a decimal"},
        "last": {
            "type": "integer",
            "minimum": 0,
            "maximum": MAX_MS,
            "description": "Event time of the newest one",
        },
    }
    graph = {
        "sourceField": {**_FIELD, "description": "The field from whose values the edges go"},
        "targetField": {**_FIELD, "description": "The field to whose values they go"},
        "measureField": {**_FIELD, "description": "The field that is summed"},
        "party": {**_FIELD, "description": "Whose sides both fields are: a value may be source and target"},
        "alerts": {**_COUNT, "description": "Looked at"},
        "transactions": {**_COUNT, "description": "That these are about, each counted once"},
        "withBothParties": {**_COUNT, "description": "Of these"},
        "edgeCount": {**_COUNT, "description": "Of all edges"},
        "edges": {"type": "array", "maxItems": MOST_EDGES, "items": _object(edge)},
    }
    return {"CaseGraph": _object(graph)}


def _object(members: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": list(members), "additionalProperties": False, "properties": members}
