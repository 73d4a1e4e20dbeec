"""The profile of a random history: sizes, shares and chances of everything that may come in it."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Profile:
    """Ranges are (least, most); shares are per record, chances per history or, where said, per micro-batch."""

    transactions: int = 220
    micro_batches: tuple[int, int] = (3, 14)
    partitions: tuple[int, int] = (1, 3)
    rules: tuple[int, int] = (3, 8)
    rule_changes: tuple[int, int] = (2, 9)
    keys: tuple[int, int] = (1, 4)

    late: float = 0.12
    too_late: float = 0.03
    future: float = 0.04
    out_of_order: float = 0.04
    duplicate: float = 0.08
    broken: float = 0.04
    null_key: float = 0.06
    equal_time: float = 0.12
    window_edge: float = 0.12
    oldest: float = 0.05
    warm_edge: float = 0.03

    own_settings: float = 0.6
    changed_settings: float = 0.4
    repeated_events: float = 0.4
    held_back_event: float = 0.15
    garbage_events: float = 0.1
    no_ticks: float = 0.05
    late_first_tick: float = 0.2
    jump_per_batch: float = 0.07
    aimed_per_tick: float = 0.3
    traced: float = 0.4  # commands to trace rules, which leave all else as it is

    # All that follows is off: the first histories keep their meaning, and the same seed its history.
    filtered: float = 0  # per definition, as the next three
    crossing: float = 0
    reset_on_alert: float = 0
    stored_late: float = 0
    controls: float = 0  # per micro-batch
    flurries: float = 0  # per micro-batch: one rule published, paused, resumed in any order at once
    aimed_start: float = 0  # per publication: effectiveFrom at the event time of some payment sent
    start_edge: float = 0  # per record, as the next two: at the effectiveFrom of some rule
    silence_edge: float = 0  # one window after the newest of its keys
    late_twin: float = 0  # just before one of the same keys that was sent a moment ago
    distinct: float = 0  # per definition: COUNT_DISTINCT of any field that may be a key
    cooldown: float = 0  # per definition: from a second to several windows
    cooldown_edge: float = 0  # per record: where a cooldown may end, or just before
    reevaluated: float = 0  # per definition, which then has none of what reevaluate does not go with
    chained: float = 0  # per definition: conditions, which then have neither reset nor judging again
    named: float = 0  # per comparison of a filter, and per limit: a list or a parameter, which then change
    abandoned: float = (
        0  # per micro-batch: all rules that group as some rule does are deleted, others come later
    )
    bucketed: float = (
        0  # per definition that it goes with; then also edges of buckets, and rules that share them
    )
    commands: float = (
        0  # per micro-batch: commands of operators, several perhaps; then also backfilled records
    )
    expiring: float = 0  # per publication: an effectiveUntil
    tests: float = 0  # per test of a filter: of no constant, of parts of texts, of the time of day
    of_order: float = 0  # per aggregate: what depends on which transaction was before
    weighted: float = 0  # per all, any or not of a chain: weights in its place
    deviation: float = 0  # per aggregate: STDDEV
    relative: float = 0  # per condition of a chain: other windows, too few in them, limits that are measured
    stepped: float = 0  # per definition: it groups by amounts in steps as well
    entries: float = 0  # per change of a list: some values come and go, in place of another whole list
    parties: float = 0  # per definition: by the party in place of keys, sides in its filters
    shadows: float = 0  # per micro-batch: a shadow of some rule is started, ended or promoted
    widened: float = 0  # per micro-batch: one that runs is rolled out to a few groups more


EVERYTHING = Profile(
    rule_changes=(3, 12),
    null_key=0.1,
    filtered=0.4,
    crossing=0.45,
    reset_on_alert=0.35,
    stored_late=0.3,
    controls=0.1,
    flurries=0.2,
    aimed_start=0.7,
    start_edge=0.05,
    silence_edge=0.06,
    late_twin=0.1,
    distinct=0.35,
    cooldown=0.35,
    cooldown_edge=0.07,
    reevaluated=0.38,
    chained=0.2,
    named=0.25,
    traced=0.7,
)

# With what EVERYTHING leaves out, so that its histories stay as they were.
EVERYTHING_AND_MORE = replace(EVERYTHING, bucketed=0.5, commands=0.5)
# Lists that change by single entries too, and more that names them; a profile of its own for the same reason.
EVERYTHING_AND_ENTRIES = replace(EVERYTHING, named=0.7, filtered=0.6, entries=0.8)
# Filters with all that they can say; the same.
EVERYTHING_AND_TESTS = replace(EVERYTHING, filtered=0.7, tests=0.6)
# What looks at the order of transactions, and deviations, often enough beside all else; the same.
EVERYTHING_AND_ORDER = replace(EVERYTHING, of_order=0.5, deviation=0.5, chained=0.35)
# Conditions that are weighed; the same.
EVERYTHING_AND_WEIGHTS = replace(EVERYTHING, chained=0.6, weighted=0.5, named=0.4, of_order=0.2)
# Windows that end earlier, and limits that are measured; the same.
EVERYTHING_AND_MEASURES = replace(
    EVERYTHING, chained=0.75, relative=0.75, filtered=0.3, of_order=0.15, deviation=0.2
)
# Amounts in steps, behind limits too; the same.
EVERYTHING_AND_STEPS = replace(
    EVERYTHING, chained=0.6, weighted=0.2, relative=0.6, stepped=0.5, of_order=0.1, deviation=0.1
)
# All of that together, buckets and commands too: for the few histories that go through Kafka, Spark and kills.
THE_WHOLE_LANGUAGE = replace(
    EVERYTHING_AND_MORE,
    chained=0.6,
    relative=0.5,
    weighted=0.3,
    of_order=0.2,
    deviation=0.2,
    filtered=0.5,
    tests=0.4,
    named=0.4,
    entries=0.4,
    stepped=0.2,
    parties=0.35,
)
# Rules by parties, among others, beside all else that goes with them; the same.
EVERYTHING_AND_PARTIES = replace(
    EVERYTHING_AND_MEASURES, parties=0.6, chained=0.45, weighted=0.2, filtered=0.4, stepped=0.15
)
# Shadows beside rules, with buckets, commands and backfills; the same.
EVERYTHING_AND_SHADOWS = replace(EVERYTHING_AND_MORE, shadows=0.75, bucketed=0.3, relative=0.2, chained=0.3)
# Shadows that stay, of rules that hardly change, and many groups that change over one after another; the same.
EVERYTHING_AND_ROLLOUTS = replace(
    EVERYTHING_AND_SHADOWS,
    shadows=0.15,
    widened=0.8,
    chained=0.15,
    aimed_start=0,
    rule_changes=(0, 2),
    flurries=0.05,
    controls=0.02,
    rules=(1, 2),
    keys=(4, 10),
    micro_batches=(6, 14),
    transactions=200,
)
