"""What may be turned on a random history."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Knobs:
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
