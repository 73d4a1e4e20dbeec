"""The committed schema of rule files, for editors, is what the contracts make of it."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from rules_registry.domain.rule_files.editor_schema import PARTS, schema_text
from rules_registry.domain.rule_files.rule_text import rule_text
from rules_registry.domain.rule_files.standing import StandingRule
from rules_registry.domain.rule_files.yaml_documents import read_documents
from tests.contract.support.example_files import type_of
from tripline_contracts import event_type_loader, schemas

COMMITTED = Path(__file__).parents[4] / "contracts" / "editor" / "rule-file.schema.json"
EXAMPLES = Path(str(resources.files("tripline_contracts"))) / "examples"
PUBLISHED = sorted(EXAMPLES.glob("**/rule-published*.json"))


def test_the_committed_schema_is_current() -> None:
    regenerate = f"run: rules-registry rule-schema > contracts/editor/{COMMITTED.name}"
    declared = event_type_loader.load()
    current = schema_text({name: schemas.load(name, declared) for name in PARTS})
    assert COMMITTED.read_text(encoding="utf-8") == current, regenerate


@pytest.mark.parametrize("file", PUBLISHED, ids=lambda file: file.stem)
def test_rules_of_the_examples_fit_as_they_are_exported(file: Path) -> None:
    event = json.loads(file.read_text(encoding="utf-8"))
    declared = type_of(file)
    schema = json.loads(schema_text({name: schemas.load(name, declared) for name in PARTS}))
    (document,) = read_documents(rule_text(StandingRule.from_json(event)))
    jsonschema.validate(document.value, schema)
