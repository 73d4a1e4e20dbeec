"""Counters of each rule."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Counts:
    """Of one rule, over all its versions; only transactions that pass the filter of the version in force.

    `evaluations` includes those of catch-up, and of late ones unless stored. `equal_times` are evaluations of
    a transaction whose event time an earlier visible one of its group has too. `reevaluated` is how often one
    that had been judged was judged again for a late one; that is no evaluation.
    """

    evaluations: int = 0
    equal_times: int = 0
    late_evaluated: int = 0
    late_stored: int = 0
    null_groups: int = 0
    duplicates: int = 0
    reevaluated: int = 0
