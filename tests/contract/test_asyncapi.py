"""The AsyncAPI document: the channels are the topics, and its references resolve."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.contract.support.example_files import BY_NAME, read_example
from tripline_contracts import (
    asyncapi,
)

pytestmark = pytest.mark.contract


ASYNCAPI = Path(__file__).parents[2] / "contracts" / "asyncapi.yaml"


class TestAsyncApi:
    def test_is_what_the_topics_say(self) -> None:
        assert ASYNCAPI.read_text(encoding="utf-8") == asyncapi.text(), (
            "drifted; run: python -m tripline_contracts.asyncapi contracts/asyncapi.yaml"
        )

    def test_lists_exactly_the_topics(self) -> None:
        document = yaml.safe_load(ASYNCAPI.read_text(encoding="utf-8"))
        assert document["asyncapi"] == "3.0.0"
        assert {channel["address"] for channel in document["channels"].values()} == set(BY_NAME)
        for operation in document["operations"].values():
            assert operation["channel"]["$ref"].removeprefix("#/channels/") in BY_NAME
        actions = sorted(operation["action"] for operation in document["operations"].values())
        assert actions == ["receive"] * len(BY_NAME) + ["send"] * len(BY_NAME)

    def test_every_reference_leads_somewhere(self) -> None:
        document = yaml.safe_load(ASYNCAPI.read_text(encoding="utf-8"))
        references = list(_references(document))
        assert len(references) > 4 * len(BY_NAME)
        for reference in references:
            file, _, pointer = reference.partition("#")
            target = document if not file else read_example(ASYNCAPI.parent / file)
            for step in pointer.strip("/").split("/") if pointer else ():
                target = target[step]
            assert target


def _references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for inner in value.values():
            yield from _references(inner)
