"""What a campaign excuses: a body that nothing but its narrowing forbids, and nothing else."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from schemathesis.core.failures import AcceptedNegativeData, Failure, ServerError
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode
from schemathesis.generation.meta import ComponentInfo

from tests.contract.support.whole_document import WholeDocument
from tests.registry import DEFINITION

DOCUMENT: dict[str, Any] = json.loads(Path("contracts/openapi/rules-registry.json").read_text())
TAKEN = AcceptedNegativeData(operation="", message="", status_code=200, expected_statuses=["422"])
BROKEN = ServerError(operation="", status_code=500)


def _case(body: Any, *, query: GenerationMode = GenerationMode.POSITIVE) -> SimpleNamespace:
    components = {
        ParameterLocation.BODY: ComponentInfo(mode=GenerationMode.NEGATIVE),
        ParameterLocation.QUERY: ComponentInfo(mode=query),
    }
    return SimpleNamespace(
        path="/v1/rule-checks",
        method="POST",
        media_type="application/json",
        body=body,
        meta=SimpleNamespace(components=components),
    )


@pytest.mark.parametrize(
    ("case", "failures", "is_excused"),
    [
        (_case({**DEFINITION, "ruleId": 7}), [TAKEN], True),
        (_case({**DEFINITION, "rule": 7}), [TAKEN], False),
        (_case({**DEFINITION, "ruleId": "x"}), [TAKEN], False),
        (_case({**DEFINITION, "ruleId": 7}), [TAKEN, BROKEN], False),
        (_case({**DEFINITION, "ruleId": 7}, query=GenerationMode.NEGATIVE), [TAKEN], False),
    ],
)
def test_what_is_excused(case: Any, failures: list[Failure], is_excused: bool) -> None:
    assert WholeDocument(deepcopy(DOCUMENT)).excuses(case, failures) is is_excused
