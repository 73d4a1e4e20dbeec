"""The groups and group lists of a population, opened over a history."""

from __future__ import annotations

from tripline_engine.domain.groups.group_lists import GroupLists
from tripline_engine.domain.groups.groups import Groups, groups_by
from tripline_engine.domain.groups.large_groups import SMALL_GROUP_ROWS
from tripline_engine.domain.history.exclusion_filter import excluding
from tripline_engine.domain.history.history import History
from tripline_engine.domain.history.row_filter import FilterCompiler, from_time
from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.memory.array_types import Millis
from tripline_engine.domain.rules.measures import Population
from tripline_engine.domain.transactions.columns import MIN_TIME


def open_groups(arena: Arena, history: History, fields: tuple[str, ...], compiler: FilterCompiler) -> Groups:
    """The groups by these fields."""
    name = f"{compiler.anchor}.groups.{'+'.join(fields)}"
    return groups_by(fields, arena, name, history, compiler.key)


def open_group_lists(
    arena: Arena,
    history: History,
    population: Population,
    compiler: FilterCompiler,
    groups: Groups,
    since: Millis = MIN_TIME,
    *,
    small: int = SMALL_GROUP_ROWS,
) -> GroupLists:
    """The lists of a population; transactions with an event time before ``since`` are left out."""
    passes = None if population.filter is None else compiler.compile(population.filter)
    passes = excluding(population.exclusions, compiler, passes)
    if since != MIN_TIME:
        passes = from_time(since, passes)
    name = f"{compiler.anchor}.by.{population.name}"
    return GroupLists(arena, name, history, groups, passes, small=small)
