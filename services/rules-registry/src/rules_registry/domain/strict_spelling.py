"""Spellings that the contracts read in old rule files, and that nobody should write anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tripline_contracts import spelling
from tripline_contracts.errors import Problem


def loose_spellings(body: Mapping[str, object]) -> Iterator[Problem]:
    """What is refused of a definition although it could be read."""
    for path, measuring in [("", body), *_conditions(body.get("conditions"), "conditions")]:
        grouping = measuring.get("groupingKeyNames")
        if isinstance(grouping, str) and not spelling.bare(grouping):
            yield Problem(f"{path}groupingKeyNames", "expected a list; [] is one global group")
        function = measuring.get("aggregatorFunctionType")
        if function is not None and not isinstance(function, str):
            yield Problem(f"{path}aggregatorFunctionType", "expected a text")


def _conditions(data: object, path: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Whatever may be a condition, with the path of its members."""
    if not isinstance(data, Mapping):
        return
    yield f"{path}.", data
    yield from _conditions(data.get("not"), f"{path}.not")
    yield from _conditions(data.get("of"), f"{path}.of")
    for word in ("all", "any", "weighted"):
        operands = data.get(word)
        for i, operand in enumerate(operands if isinstance(operands, list) else []):
            yield from _conditions(operand, f"{path}.{word}[{i}]")
