"""Definitions before they are written down, as the histories of the tests make them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from tests.oracle.parsers.definitions import DISTINCT, REEVALUATE
from tests.oracle.parsers.measures import DEVIATION, OF_ORDER, SINCE_FIRST, SINCE_PREVIOUS
from tests.oracle.values.decimals import plain
from tests.oracle.values.model import Json
from tests.oracle.values.schema import AMOUNT

WIDEST_SECONDS = 400 * 86_400
OF_NO_FIELD = ("COUNT", SINCE_PREVIOUS, SINCE_FIRST)
# Well within what is allowed.
_MOST_BUCKETS = 5000


@dataclass(frozen=True, slots=True)
class Draft:
    """A definition before it is written down; times in seconds, limit in millionths, filter normalised.

    `field` is what is aggregated, unless that is nothing because the function is one of `OF_NO_FIELD`. With a
    `parameter` the limit is that, and the number only what it might be. `bucket` is the length of one, None where all
    is exact. With a `step` the amount, where it groups, does so in steps. A chained one has a `chain`, whose conditions
    are drafts of which only what a condition has counts; of its own, `grouping` and `window` are then those of the
    whole, and function, operator, limit, field and step say nothing.

    A condition with something `behind` its limit is held against that, of which only what a measure has counts;
    `times`, `plus` and the number of `deviations` are as they are written.
    """

    grouping: tuple[str, ...]
    function: str
    operator: str
    limit: int
    window: int
    condition: Json = None
    firing: str = "every"
    late_events: str = "evaluate"
    reset_on_alert: bool = False
    field: str = AMOUNT
    cooldown: int | None = None
    chain: DraftTree | None = None
    parameter: str | None = None
    bucket: int | None = None
    offset: int = 0
    current: bool = True
    least: int = 0
    behind: Draft | None = None
    times: Json = None
    plus: Json = None
    deviations: Json = None

    @property
    def reach(self) -> int:
        """How far back the windows of a condition begin."""
        back = self.window + self.offset
        return back if self.behind is None else max(back, self.behind.reach)

    @property
    def is_relative(self) -> bool:
        """True if it says what a plain rule can't."""
        return self.behind is not None or self.offset > 0 or not self.current or self.least > 0

    step: str | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """`all`, `any`, `not` of exactly one, or `weighted`: with a weight for each, numbers or parameters as JSON."""

    kind: str
    parts: tuple[DraftTree, ...]
    weights: tuple[Json, ...] = ()
    at_least: Json = None


DraftTree: TypeAlias = "Draft | Branch"


def chained(tree: DraftTree) -> Draft:
    """A chained definition without options."""
    conditions = _conditions(tree)
    measures = [*conditions, *(condition.behind for condition in conditions if condition.behind is not None)]
    grouping = tuple(sorted({name for measure in measures for name in measure.grouping}))
    widest = max(condition.reach for condition in conditions)
    return Draft(grouping, "COUNT", ">", 0, widest, chain=tree)


def conditions_of(draft: Draft) -> tuple[Draft, ...]:
    """The conditions in the order of the tree; a plain draft is its own."""
    return (draft,) if draft.chain is None else _conditions(draft.chain)


def measures_of(draft: Draft) -> tuple[Draft, ...]:
    """All that is measured, in the order of the tree."""
    return tuple(
        measure
        for condition in conditions_of(draft)
        for measure in (condition, condition.behind)
        if measure is not None
    )


def _conditions(tree: DraftTree) -> tuple[Draft, ...]:
    if isinstance(tree, Draft):
        return (tree,)
    return tuple(condition for part in tree.parts for condition in _conditions(part))


def bucketed(draft: Draft, length: int | None) -> Draft:
    """The same with buckets as near to that length as its windows allow, or exact where it has to be or is told to."""
    conditions = conditions_of(draft)
    widest = max(condition.window for condition in conditions)
    narrowest = min(condition.window for condition in conditions)
    least = max(1, -(-widest // _MOST_BUCKETS))
    exact = draft.reset_on_alert or draft.late_events == REEVALUATE
    if (
        length is None
        or exact
        or least > narrowest
        or any(
            other.function in (DISTINCT, DEVIATION, *OF_ORDER) or other.is_relative for other in conditions
        )
    ):
        return replace(draft, bucket=None)
    return replace(draft, bucket=min(max(length, least), narrowest))


def scaled_draft(draft: Draft, factor: float, more: int = 0) -> Draft:
    """The same with all windows so many times as wide, and so many seconds wider; buckets as they are if they fit."""
    return bucketed(_widened(draft, factor, more), draft.bucket)


def _widened(draft: Draft, factor: float, more: int) -> Draft:
    if draft.chain is not None:
        chain = _scaled(draft.chain, factor, more)
        return replace(draft, window=chained(chain).window, chain=chain)
    window = min(max(1, int(draft.window * factor) + more), WIDEST_SECONDS - draft.offset)
    behind = None if draft.behind is None else _widened(draft.behind, factor, more)
    return replace(draft, window=window, behind=behind)


def _scaled(tree: DraftTree, factor: float, more: int) -> DraftTree:
    if isinstance(tree, Draft):
        return _widened(tree, factor, more)
    return replace(tree, parts=tuple(_scaled(part, factor, more) for part in tree.parts))


def grouping_document(draft: Draft) -> list[Json]:
    """The grouping as a definition has it."""
    return [
        {"field": name, "step": draft.step} if draft.step is not None and name == AMOUNT else name
        for name in draft.grouping
    ]


def definition_document(draft: Draft) -> dict[str, Json]:
    """The definition as it stands in a rule event; filter, reset, cooldown only where there is one."""
    more: dict[str, Json] = {}
    if draft.condition is not None:
        more["filter"] = draft.condition
    if draft.reset_on_alert:
        more["resetOnAlert"] = True
    if draft.cooldown is not None:
        more["cooldownSeconds"] = draft.cooldown
    what = _members(draft) if draft.chain is None else {"conditions": _tree_document(draft.chain)}
    return {
        **what,
        "firing": draft.firing,
        "lateEvents": draft.late_events,
        "precision": "exact" if draft.bucket is None else f"bucketed({draft.bucket})",
        **more,
    }


def _tree_document(tree: DraftTree) -> Json:
    if isinstance(tree, Draft):
        members = {**_members(tree), **_excerpt(tree)}
        if tree.behind is not None:
            limit: dict[str, Json] = {
                "measure": _measure(tree.behind),
                "times": tree.times,
                "plus": tree.plus,
            }
            if tree.deviations is not None:
                limit["plusDeviations"] = tree.deviations
            members["limit"] = limit
        return members
    if tree.kind == "not":
        return {"not": _tree_document(tree.parts[0])}
    parts = [_tree_document(part) for part in tree.parts]
    if tree.kind == "weighted":
        weighted: list[Json] = [
            {"weight": weight, "of": part} for weight, part in zip(tree.weights, parts, strict=True)
        ]
        return {"weighted": weighted, "atLeast": tree.at_least}
    return {tree.kind: parts}


def _measure(draft: Draft) -> Json:
    members = {**_members(draft), **_excerpt(draft)}
    return {name: value for name, value in members.items() if name not in ("limitOperatorType", "limit")}


def _excerpt(draft: Draft) -> dict[str, Json]:
    """What a condition says beyond what a rule does, where it says something."""
    said: dict[str, Json] = {} if draft.condition is None else {"filter": draft.condition}
    if draft.offset:
        said["offsetSeconds"] = draft.offset
    if not draft.current:
        said["includeCurrent"] = False
    if draft.least:
        said["minimumCount"] = draft.least
    return said


def _members(draft: Draft) -> dict[str, Json]:
    return {
        "groupingKeyNames": grouping_document(draft),
        "aggregatorFunctionType": draft.function,
        "aggregateFieldName": None if draft.function in OF_NO_FIELD else draft.field,
        "limitOperatorType": draft.operator,
        "limit": plain(draft.limit) if draft.parameter is None else {"parameter": draft.parameter},
        "windowSeconds": draft.window,
    }
