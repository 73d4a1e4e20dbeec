"""`python -m bench.wide`: windows as wide as they get, full: a day exactly, and thirty days in buckets.

Kafka and the engine alone, as separate processes, the five rules of `bench.throughput`. With 17 million payments in the
windows it is killed and started again without its mapped files; takes a backlog, as it does with narrow windows in the
same run; and then keeps up with a rate. Alerts are compared with the independent count. Writes var/wide.json; exit code
1 if a bar is missed. Mapped files are in memory: some gigabytes that change all the time, which a disk would have to be
written to as often.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import click
import numpy as np
from rich.console import Console

from bench import retained
from bench.figures import assessment, results
from bench.figures.histogram import drawn
from bench.figures.results import Result
from bench.harness import engine
from bench.harness.backlog import Backlog, filled, taken
from bench.harness.clean_up import MEBIBYTE
from bench.harness.wide_run import Run, Scenario
from bench.throughput import RULES, versions, workload
from bench.workload.sender import now_ms
from bench.workload.wide_load import FORMS, POPULATION, Form, wide
from tripline_demo import paths

SHARE: Final = 0.8
"""What is left of the bars of narrow windows."""
MAX_RESTART_SECONDS: Final = 60.0
_ROOM: Final = 10 << 30
"""Bytes that mapped files have room for, in the middle of growing too."""
_ANCHORS: Final = 2
"""On so many each payment is held: by payee and by beneficiary."""


@click.command()
@click.option("--form", "forms", multiple=True, type=click.Choice(tuple(FORMS)), default=tuple(FORMS))
@click.option("--payments", type=click.IntRange(100_000), default=17_280_000, show_default=True)
@click.option("--backlog", type=click.IntRange(100_000), default=3_000_000, show_default=True)
@click.option(
    "--rate", type=click.IntRange(100, 20_000), default=5_000, show_default=True, help="Live, a second."
)
@click.option("--seconds", type=click.IntRange(10), default=90, show_default=True, help="Timed live traffic.")
@click.option(
    "--warm-up", type=click.IntRange(0), default=75, show_default=True, help="Seconds before these."
)
@click.option(
    "--mapped-files",
    type=click.Path(exists=True, file_okay=False, writable=True, path_type=Path),
    default=Path("/dev/shm"),  # below it each engine has a folder with a name that nobody knows
    envvar=engine.PROJECTION_DIR,
    show_default=True,
    callback=lambda _context, _option, folder: _roomy(folder),
    help="The folder below which they are; / for the disk, beside the other files.",
)
@click.option("--shards", type=click.IntRange(1), default=2, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def main(
    *, forms: tuple[str, ...], payments: int, backlog: int, rate: int, seconds: int, warm_up: int, mapped_files: Path,
    shards: int, seed: int,
) -> None:  # fmt: skip
    """Measures restart, throughput, latency, memory and disk with 17 million payments in the windows."""
    # to be told to stop is no reason to leave a broker behind
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.environ[engine.PROJECTION_DIR] = str(mapped_files)
    console, begin = Console(width=150 if not sys.stdout.isatty() else None), time.monotonic()

    def say(text: str) -> None:
        console.print(f"[dim]{time.monotonic() - begin:5.0f} s[/]  {text}")

    say(f"narrow windows: a backlog of {backlog:,}")
    narrow, rows = _narrow(backlog, shards, seed)
    for name in forms:
        say(f"{FORMS[name].name}: {payments:,} payments are made up, and limits found")
        sizes = payments, backlog, rate * (warm_up + seconds)
        run = _run(FORMS[name], sizes, rate, warm_up, shards, seed, say)
        rows += _rows(FORMS[name], run, payments, narrow)
        console.print(
            f"{FORMS[name].name}: send call to alert read", *drawn(run.latencies_ms.tolist()), sep="\n"
        )
    results.show(rows, console)
    results.write(rows, paths.var_folder() / "wide.json")
    sys.exit(0 if all(result.ok for result in rows) else 1)


def _roomy(folder: Path) -> Path:
    free = shutil.disk_usage(folder).free
    if free < _ROOM:
        raise click.BadParameter(
            f"{folder} has {free / MEBIBYTE:,.0f} MiB left, {_ROOM / MEBIBYTE:,.0f} may be needed: name another folder"
        )
    return folder


def _narrow(payments: int, shards: int, seed: int) -> tuple[float, list[Result]]:
    load = workload(payments, POPULATION, seed)
    with filled(Backlog(load, versions(load, RULES))) as workplace:
        done = taken(workplace, shards)
    return done.rate, [results.told("narrow windows: throughput", done.rate, "payments/s"), *done.checked]


def _run(
    form: Form, sizes: tuple[int, int, int], rate: int, warm_up: int, shards: int, seed: int, say: Callable[[str], None]
) -> Run:  # fmt: skip
    with engine.broker("wide") as workplace:
        scenario = Scenario(workplace, wide(form, sizes, rate, now_ms(), seed), shards, warm_up, say)
        say("the preload is sent and taken")
        return scenario.run()


def _rows(form: Form, run: Run, payments: int, narrow: float) -> list[Result]:
    held, copies = run.held, payments * _ANCHORS
    p50, p99 = np.percentile(run.latencies_ms, [50, 99])
    kafka50, kafka99 = np.percentile(run.kafka_ms, [50, 99])
    rows = [
        results.told("preload sent and taken", payments / run.preload_seconds, "payments/s"),
        results.told("transactions held one by one, over all anchors", held.rows, "rows", copies),
        results.at_most(
            "a payment and anchor, in mapped files", held.files / copies, "bytes", retained.MAX_MEMORY / SHARE
        ),
        results.at_most(
            "a payment and anchor, in the state log",
            held.log.bytes / copies,
            "bytes",
            retained.MAX_LOG / SHARE,
        ),
        results.told("Python workers, mapped files among that", held.workers / MEBIBYTE, "MiB"),
        results.told("state on the disk, old versions among that", held.state / MEBIBYTE, "MiB"),
        results.at_most("restart: process start to first new alert", run.restarted, "s", MAX_RESTART_SECONDS),
        results.told("of that in the shards: state log read, arrays built again", run.building, "s"),
        results.at_least("throughput", run.rate, "payments/s", SHARE * narrow, reference=narrow),
        results.told("… processor time of all processes for it", run.spent.own, "s"),
        results.told("… and of the kernel", run.spent.kernel, "s", run.spent.own),
        results.told("… written to the disk meanwhile", run.spent.written / MEBIBYTE, "MiB"),
        results.at_most(
            "send call to alert read, p50", p50, "ms", assessment.MAX_P50_MS / SHARE, reference=kafka50
        ),
        results.at_most(
            "send call to alert read, p99", p99, "ms", assessment.MAX_P99_MS / SHARE, reference=kafka99
        ),
        results.told("send call to alert read, the longest", run.latencies_ms.max(), "ms"),
        *run.checked,
    ]
    return [replace(row, name=f"{form.name}: {row.name}") for row in rows]


if __name__ == "__main__":
    main()
