"""`python -m bench.beside`: relative limits, deviations, order, speeds, parties and shadows, beside plainer rules.

As `bench.evaluation`: one group, a payment each millisecond, through packing and a shard, in this process. Each rule
has a shard of its own, and all of them take the same micro-batches in turns, so that a ratio is of one run and one
piece of work. Once with 2,000 payments in the window, once with 1,000,000. Told is the processor time of judging
alone: taking payments into the history of the rule's anchor, its lists and windows, and holding them against the
limit.

    plain                  SUM [-------------------]e > a number
    same window            SUM [-------------------]e > times the AVG of the same window
    a baseline of its own  SUM           [---------]e > times the AVG [---------) before it
    by a party             SUM [-------------------]e > a number, of the payer, then the same of the payee: two entries
    and a shadow           SUM [-------------------]e > a number, and > another one on trial, of this window or of half

Writes var/beside.json; exit code 1 if a bar is missed.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
from rich.console import Console

from bench.evaluation import Shard, Stream, microseconds, payments, prepared
from bench.figures import results
from bench.figures.results import Result
from bench.workload.rules import UNREACHABLE
from bench.workload.workload import Label, Workload
from tripline_contracts import decimals
from tripline_contracts.event_type import EventType, Field
from tripline_contracts.event_type_loader import load as load_type
from tripline_demo import paths
from tripline_engine.domain.rules.tolerances import Tolerances
from tripline_engine.domain.shard.engine_config import EngineConfig

MOST_LONGER: Final = 1.5
"""How many times what it costs with few in the window an evaluation may cost with a million."""
_PAYMENT: Final = load_type("transaction")
EVENT_TYPE: Final[EventType] = replace(
    _PAYMENT,
    fields=(*_PAYMENT.fields, Field("position", "attribute", "position")),
    columns=(*_PAYMENT.columns, "position"),
)
"""Payments that come from somewhere."""
_PLACES: Final = 10_000
_KEPT_LATER_MS: Final = Tolerances().allowed_lateness_ms + Tolerances().max_disorder_ms


@dataclass(frozen=True, slots=True)
class Beside:
    """A rule by its name: what it measures; ``behind`` and ``deviations`` make its limit relative.

    :ivar window_seconds: the whole reach, of which a baseline of its own takes the older half
    :ivar shadow_seconds: the window of a shadow that runs beside it, where one does
    """

    name: str
    function: str
    window_seconds: int
    behind: str | None = None
    own: bool = False
    deviations: str | None = None
    by: str = "payeeId"
    shadow_seconds: int | None = None

    def body(self, limit: Decimal, effective_from: int) -> dict[str, object]:
        """Under a limit that nothing reaches; a relative one goes so many times as far."""
        said = decimals.plain(limit)
        whole = {"name": self.name, "effectiveFrom": effective_from}
        if self.behind is None:
            return {**whole, **self._measure(self.function, self.window_seconds), "limit": said, **_COMPARED}
        half = self.window_seconds // 2
        window = half if self.own else self.window_seconds
        behind = self._measure(self.behind, window)
        factors: dict[str, object] = {"times": said, "plus": "0"}
        if self.own:
            behind["offsetSeconds"] = half
        if self.deviations is not None:
            factors["plusDeviations"] = self.deviations
        condition = {
            **self._measure(self.function, window),
            "limit": {"measure": behind, **factors},
            **_COMPARED,
        }
        return {**whole, "conditions": condition}

    def _measure(self, function: str, window_seconds: int) -> dict[str, Any]:
        field = {
            "CHANGED": "beneficiaryId",
            "COUNT": None,
            "SECONDS_SINCE_PREVIOUS": None,
            "SPEED_KMH": "position",
        }
        return {
            "groupingKeyNames": [self.by],
            "aggregatorFunctionType": function,
            "aggregateFieldName": field.get(function, "paymentAmount"),
            "windowSeconds": window_seconds,
        }


_COMPARED: Final = {"limitOperatorType": ">"}
_SAME, _OWN = "SUM against AVG of the same window", "SUM against AVG of the window before"
_IN_DEVIATIONS: Final = "SUM against AVG and deviations of the same window"
_SHADOW, _SHORTER = "SUM and a shadow", "SUM and a shadow of half its window"
_OF_PARTY, _OF_PAYEE = "SUM by a party", "SUM by payee"
BARS: Final[tuple[tuple[str, tuple[str, ...], float | None], ...]] = (
    (_SAME, ("SUM",), 1.3),
    (_OWN, ("SUM",), 2.2),
    ("STDDEV", ("AVG",), 1.5),
    ("SECONDS_SINCE_PREVIOUS", ("COUNT",), 1.2),
    ("CHANGED", ("COUNT",), 1.2),
    ("SPEED_KMH", ("COUNT",), None),
    ("SPEED_KMH", ("CHANGED",), None),
    (_OF_PARTY, ("SUM", _OF_PAYEE), 2.2),
    (_OF_PARTY, ("SUM",), None),
    (_IN_DEVIATIONS, ("SUM",), None),
    (_SHADOW, ("SUM",), None),
    (_SHORTER, ("SUM",), None),
)
"""What may cost so many times what a plainer rule does, or several do on average; without a number it is only told."""


def rules(window_seconds: int) -> list[Beside]:
    """All of them, over that window."""
    plain = ("SUM", "AVG", "COUNT", "STDDEV", "SECONDS_SINCE_PREVIOUS", "CHANGED", "SPEED_KMH")
    return [
        *(Beside(name, name, window_seconds) for name in plain),
        Beside(_SAME, "SUM", window_seconds, "AVG"),
        Beside(_OWN, "SUM", window_seconds, "AVG", own=True),
        Beside(_IN_DEVIATIONS, "SUM", window_seconds, "AVG", deviations="3"),
        Beside(_OF_PARTY, "SUM", window_seconds, by="account"),
        Beside(_OF_PAYEE, "SUM", window_seconds, by="beneficiaryId"),
        Beside(_SHADOW, "SUM", window_seconds, shadow_seconds=window_seconds),
        Beside(_SHORTER, "SUM", window_seconds, shadow_seconds=window_seconds // 2),
    ]


@click.command()
@click.option(
    "--small", type=click.IntRange(2_000), default=2_000, show_default=True, help="Payments in the window."
)
@click.option("--large", type=click.IntRange(2_000), default=1_000_000, show_default=True)
@click.option(
    "--micro-batches", type=click.IntRange(10), default=200, show_default=True, help="That are timed."
)
@click.option(
    "--size", type=click.IntRange(10), default=1_000, show_default=True, help="Payments in each of them."
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def main(*, small: int, large: int, micro_batches: int, size: int, seed: int) -> None:
    """Measures what they cost beside plainer rules."""
    console = Console(width=150 if not sys.stdout.isatty() else None)
    config = EngineConfig("bench", EVENT_TYPE, EVENT_TYPE.anchors, 1, (1, 2), "data")
    costs = []
    for held in (small, large):
        console.print(f"[dim]{held:,} payments in the window[/]")
        load = located(payments(held + _KEPT_LATER_MS, micro_batches * size, seed), seed)
        stream = prepared(config, load, size)
        costs.append(measured(config, stream, held))
    few, many = costs
    rows = [*compared(few, many, (small, large)), *flat(few, many, large)]
    results.show(rows, console)
    results.write(rows, paths.var_folder() / "beside.json")
    sys.exit(0 if all(result.ok for result in rows) else 1)


def located(load: Workload, seed: int) -> Workload:
    """The same payments, each from one of many places, all over the earth."""
    random = np.random.default_rng(seed)
    latitudes, longitudes = random.uniform(-90, 90, _PLACES), random.uniform(-180, 180, _PLACES)
    texts = tuple(f"{north:.6f},{east:.6f}" for north, east in zip(latitudes, longitudes, strict=True))
    return replace(load, labels=(Label("position", texts, random.integers(0, _PLACES, len(load))),))


def measured(config: EngineConfig, stream: Stream, held: int) -> dict[str, float]:
    """The µs of processor time of judging one payment, by rule."""
    with tempfile.TemporaryDirectory(prefix="tripline-beside-") as folder:
        chosen = rules(held // 1_000)
        shards = [Shard(config, Path(folder) / str(number), rule) for number, rule in enumerate(chosen)]
        for shard, rule in zip(shards, chosen, strict=True):
            shard.publish(1, UNREACHABLE, 0)
            if rule.shadow_seconds is not None:
                tried = replace(rule, window_seconds=rule.shadow_seconds)
                shard.try_beside(2, tried.body(UNREACHABLE + 1, 0))
            for batch in stream.filling:
                shard.take(batch)
            shard.judging_ms.clear()
        for number, batch in enumerate(stream.timed):
            for turn in range(len(shards)):
                shards[(number + turn) % len(shards)].take(batch)
        nothing = [0.0] * len(stream.timed)
        return {
            rule.name: microseconds(shard.judging_ms, nothing, stream)
            for rule, shard in zip(chosen, shards, strict=True)
        }


def compared(short: dict[str, float], long: dict[str, float], held: Sequence[int]) -> Iterator[Result]:
    """Each beside its plainer one, over both windows."""
    for name, plain, most in BARS:
        for costs, count in zip((short, long), held, strict=True):
            title = f"{name} beside {' and '.join(plain)}, {count:,} in the window"
            reference = statistics.mean(costs[one] for one in plain)
            if most is None:
                yield results.told(title, costs[name], "µs", reference)
            else:
                yield results.at_most(title, costs[name], "µs", most * reference, reference=reference)


def flat(short: dict[str, float], long: dict[str, float], large: int) -> Iterator[Result]:
    """Each with a million beside itself with few."""
    for name, cost in short.items():
        title = f"{name}: {large:,} in the window beside few"
        yield results.at_most(title, long[name], "µs", MOST_LONGER * cost, reference=cost)


if __name__ == "__main__":
    main()
