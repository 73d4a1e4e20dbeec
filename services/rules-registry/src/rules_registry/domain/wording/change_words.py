"""Differences between two definitions, and between two versions of a rule, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final, cast

from rules_registry.domain.wording.filter_words import as_json, conjuncts, filter_words
from rules_registry.domain.wording.rule_words import (
    DEFAULTS,
    aggregate_words,
    condition_words,
    conditions_words,
    describe,
    excerpt_words,
    grouping_words,
    limit_words,
    number_words,
    option_words,
)
from rules_registry.domain.wording.spans import moment, span_change

Definition = Mapping[str, object]

NO_DIFFERENCE: Final = "no difference"
_AGGREGATE: Final = ("aggregatorFunctionType", "aggregateFieldName")
_CHAINING: Final = ("all", "any", "weighted")
_LIMIT: Final = ("limitOperatorType", "limit")
_EXCERPT: Final = ("offsetSeconds", "includeCurrent", "minimumCount")
_MEASURED: Final = (*_AGGREGATE, "groupingKeyNames", *_LIMIT, "windowSeconds", *_EXCERPT)
_WRITTEN_OTHERWISE: Final = "the same, written otherwise"
_SOON_MS: Final = 1_000
"""A version that is effective so close to when it was made has been given no time of its own."""


def describe_change(before: Definition | None, after: Definition | None) -> str:
    """From one definition to another, either of which may not be there, like `limit 1000 → 1500; window 20 → 30 min`.

    `no difference` if they are equal, and only then.
    """
    if before == after:
        return NO_DIFFERENCE
    if before is None or after is None:
        return f"new: {describe(after)}" if after is not None else f"gone: {describe(before or {})}"
    return "; ".join(_definition(before, after)) or _WRITTEN_OTHERWISE


def describe_versions(before: Mapping[str, object], after: Mapping[str, object]) -> str:
    """From one version of a rule to another, both in their events' JSON: definition, name, state, since when if that
    was chosen, until when, and of a rollout the share."""
    old, new = cast("Definition", before["definition"]), cast("Definition", after["definition"])
    clauses = [] if old == new else [describe_change(old, new)]
    if before["name"] != after["name"]:
        clauses.append(f"name {as_json(before['name'])} → {as_json(after['name'])}")
    if before["state"] != after["state"]:
        clauses.append(f"state {before['state']} → {after['state']}")
    since, since_before = cast("int", after["effectiveFrom"]), before["effectiveFrom"]
    chosen = abs(since - cast("int", after["occurredAt"])) > _SOON_MS
    if since != since_before and (chosen or not clauses):
        clauses.append(f"effective from {moment(since)}")
    clauses += end_words(
        cast("int | None", before.get("effectiveUntil")), cast("int | None", after.get("effectiveUntil"))
    )
    share = after.get("percent")
    if share is not None and share != before.get("percent"):
        clauses.append(f"rolled out to {share} % of groups")
    return "; ".join(clauses) or NO_DIFFERENCE


def end_words(before: int | None, after: int | None) -> Iterator[str]:
    """A clause where the end (ms) is another one."""
    if before != after:
        yield "without an end" if after is None else f"effective until {moment(after)}"


def _definition(before: Definition, after: Definition) -> Iterator[str]:
    """At least one clause, for two that differ."""
    if ("conditions" in before) != ("conditions" in after):
        yield f"{_measured(before)} → {_measured(after)}"
    elif "conditions" in before:
        yield from _conditions(before["conditions"], after["conditions"])
    else:
        yield from _condition(before, after)
    yield from _filter(before.get("filter"), after.get("filter"))
    for name in dict.fromkeys([*DEFAULTS, *before, *after]):
        if name not in (*_MEASURED, "conditions", "filter"):
            yield from _option(name, before, after)


def _measured(definition: Definition) -> str:
    conditions = definition.get("conditions")
    return condition_words(definition) if conditions is None else conditions_words(conditions)


def _condition(before: Definition, after: Definition) -> Iterator[str]:
    if _differ(_AGGREGATE, before, after):
        yield _changed("", aggregate_words(before), aggregate_words(after), before, after)
    if _differ(("groupingKeyNames",), before, after):
        yield _changed("", grouping_words(before), grouping_words(after), before, after)
    if _differ(_LIMIT, before, after):
        yield _limit(before, after)
    if _differ(("windowSeconds",), before, after):
        old, new = before.get("windowSeconds"), after.get("windowSeconds")
        both = isinstance(old, int) and isinstance(new, int)
        yield f"window {span_change(cast('int', old), cast('int', new)) if both else f'{old} → {new}'}"
    if _differ(_EXCERPT, before, after):
        part, part_then = (excerpt_words(measured) or "all of it" for measured in (before, after))
        yield _changed("of the window ", part, part_then, before, after)


def _limit(before: Definition, after: Definition) -> str:
    old, new = limit_words(before), limit_words(after)
    if not _differ(("limitOperatorType",), before, after):
        old, new = old.partition(" ")[2], new.partition(" ")[2]
    return _changed("limit ", old, new, before, after)


def _changed(title: str, old: str, new: str, before: Definition, after: Definition) -> str:
    """Where two spellings of one thing read alike, the definitions as they are written."""
    return f"{title}{old} → {new}" if old != new else f"{title}{as_json(before)} → {as_json(after)}"


def _differ(names: Sequence[str], before: Definition, after: Definition) -> bool:
    return any(before.get(name) != after.get(name) for name in names)


def _filter(before: object, after: object) -> Iterator[str]:
    """What was added and taken away, of what has to be true together."""
    if before == after:
        return
    old, new = conjuncts(before), conjuncts(after)
    added, removed = [part for part in new if part not in old], [part for part in old if part not in new]
    if len(added) == len(removed) == 1 or not (added or removed):
        old, new = (removed, added) if added else (old, new)  # type: ignore[assignment]
        words = [" and ".join(filter_words(part, inside=True) for part in parts) for parts in (old, new)]
        yield f"filter {words[0]} → {words[1]}" if words[0] != words[1] else "filter written otherwise"
        return
    yield from (f"− filter: {filter_words(part, inside=len(removed) > 1)}" for part in removed)
    yield from (f"+ filter: {filter_words(part, inside=len(added) > 1)}" for part in added)


def _conditions(before: object, after: object) -> Iterator[str]:
    """Clauses of each condition where the trees have the same shape, else those that came and went."""
    if before == after:
        return
    old, new = _leaves(before), _leaves(after)
    if _shape(before) == _shape(after):
        for number, (one, other) in enumerate(zip_longest(old, new), 1):
            clauses = [*_condition(one, other), *_filter(one.get("filter"), other.get("filter"))]
            yield from (f"condition {number}: {clause}" for clause in clauses)
        yield from _weights(_numbers(before), _numbers(after))
        return
    added, removed = [leaf for leaf in new if leaf not in old], [leaf for leaf in old if leaf not in new]
    weighed = _numbers(before) or _numbers(after)
    if (added or removed) and not weighed and _word(before) == _word(after):
        yield from (f"− condition: {conditions_words(leaf)}" for leaf in removed)
        yield from (f"+ condition: {conditions_words(leaf)}" for leaf in added)
        return
    words = conditions_words(before), conditions_words(after)
    yield f"{words[0]} → {words[1]}" if words[0] != words[1] else "conditions in other brackets"


def _weights(before: Sequence[object], after: Sequence[object]) -> Iterator[str]:
    """One clause for all weights and what they have to add up to, in the order of the tree."""
    if before != after:
        words = [", ".join(number_words(number) for number in numbers) for numbers in (before, after)]
        old, new = words if words[0] != words[1] else (as_json(before), as_json(after))
        yield f"weights {old} → {new}"


def _numbers(tree: object) -> list[object]:
    """Each weight in its place, and what a weighting has to add up to after them."""
    if not isinstance(tree, Mapping):
        return []
    inner = [number for operand in _operands(tree) for number in _numbers(operand)]
    if not isinstance(tree.get("weighted"), Sequence):
        return inner
    weights = [item.get("weight") if isinstance(item, Mapping) else item for item in tree["weighted"]]
    return [*weights, tree.get("atLeast"), *inner]


def _operands(tree: Mapping[str, object]) -> list[object]:
    """What a tree is made of; nothing of a condition."""
    for key in _CHAINING:
        operands = tree.get(key)
        if isinstance(operands, Sequence):
            return [
                item.get("of") if key == "weighted" and isinstance(item, Mapping) else item
                for item in operands
            ]
    return [tree["not"]] if "not" in tree else []


def _leaves(tree: object) -> list[Definition]:
    if not isinstance(tree, Mapping):
        return []
    for key in _CHAINING:
        if isinstance(tree.get(key), Sequence):
            return [leaf for operand in _operands(tree) for leaf in _leaves(operand)]
    return _leaves(tree["not"]) if "not" in tree else [tree]


def _shape(tree: object) -> object:
    if not isinstance(tree, Mapping):
        return tree
    for key in _CHAINING:
        if isinstance(tree.get(key), Sequence):
            return (key, *(_shape(operand) for operand in _operands(tree)))
    return ("not", _shape(tree["not"])) if "not" in tree else "condition"


def _word(tree: object) -> str | None:
    """What chains conditions that are chained by one word alone; None of others."""
    shape = _shape(tree)
    if (
        isinstance(shape, tuple)
        and shape[0] != "weighted"
        and all(operand == "condition" for operand in shape[1:])
    ):
        return str(shape[0])
    return None


def _option(name: str, before: Definition, after: Definition) -> Iterator[str]:
    old, new = before.get(name, DEFAULTS.get(name)), after.get(name, DEFAULTS.get(name))
    if old == new:
        if before.get(name) != after.get(name):
            yield f"{name} {as_json(before.get(name))} → {as_json(after.get(name))}"
        return
    if name == "cooldownSeconds" and isinstance(old, int) and isinstance(new, int):
        yield f"silent after an alert {span_change(old, new)}"
    elif old == DEFAULTS.get(name) and name in ("cooldownSeconds", "resetOnAlert"):
        yield f"+ {option_words(name, new)}"
    elif new == DEFAULTS.get(name) and name in ("cooldownSeconds", "resetOnAlert"):
        yield f"− {option_words(name, old)}"
    else:
        yield f"{option_words(name, old)} → {option_words(name, new)}"
