"""Sorted transactions judged by all shards of one engine, in this process.

runs ──merged──▶ one order ──cut by the grid──▶ micro-batches ──▶ the engine's evaluator
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tripline_engine.backtest.evaluation import Evaluation
from tripline_engine.backtest.ordered.event_cells import Grid, micro_batches
from tripline_engine.backtest.ordered.event_runs import EventRuns
from tripline_engine.backtest.ordered.ordered_payloads import OrderedPayloads, wanted_anchors
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.domain.shard.ports import Payload
from tripline_engine.kafka_log.record import Record


def judge_in_order(
    evaluation: Evaluation,
    rules: Sequence[TriedRule],
    runs: EventRuns,
    events: Sequence[Record],
    whole_from: int | None,
    cell: int,
    judged: Callable[[int], None],
) -> None:
    """Judges all that was added to the runs; without any there is nothing.

    :param events: what rules.v1 says, before everything else
    :param whole_from: from when (ms) on the history is whole; None: from its first transaction on
    :param cell: transactions in a cell of the grid of event times, on average
    :param judged: told after each micro-batch, how many transactions it had
    """
    if runs.bounds is None:
        return
    config = evaluation.config
    grid = Grid.over(*runs.bounds, len(runs), cell)
    packer = OrderedPayloads(config, wanted_anchors(config, rules))
    opening = packer.opening(events, grid.first if whole_from is None else whole_from)
    evaluation.judge_payloads([opening] * config.shards)
    for clock, table in micro_batches(runs.merged(), config.event_type.time_field.name, grid, cell):
        tick = packer.tick(clock)
        payloads: list[list[Payload]] = [[] for _ in range(config.shards)]
        for shard, payload in packer.by_shard(table):
            payloads[shard] = [tick, payload]
        evaluation.judge_payloads(payloads)
        judged(table.num_rows)
