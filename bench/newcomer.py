"""`python -m bench.newcomer`: how many cores the demo takes, with its traffic and at rest.

Starts it in a folder of its own, lets it run in, and looks at the processor time of all of its processes. Prints a
table, writes var/newcomer.json; exit code 1 if a bar is missed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click
import httpx
import psutil
from rich.console import Console

from bench.figures import results
from bench.figures.results import Result
from bench.harness.stack import BenchFailed, Stack, stack
from tripline_demo import paths
from tripline_demo.stack import orphans

MOST_WITH_TRAFFIC: Final = 0.5
MOST_AT_REST: Final = 0.15
_TELLS_OF: Final = 0.005
"""Cores: parts that take less are one line."""


@click.command()
@click.option(
    "--warm-up", type=click.IntRange(0), default=180, show_default=True, help="Seconds before each look."
)
@click.option("--seconds", type=click.IntRange(5), default=60, show_default=True, help="Of each look.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Default: var/newcomer.json.")
def main(*, warm_up: int, seconds: int, out: Path | None) -> None:
    """Measures the demo at its own rate, then without traffic, each after the warm-up."""
    console = Console(width=150 if not sys.stdout.isatty() else None)
    folder = Path(tempfile.mkdtemp(prefix="tripline-bench-"))
    try:
        console.print("[dim]starting the demo[/]")
        with stack(folder, "--traffic") as running:
            with_traffic = look(running, warm_up, seconds, console, "with traffic")
            stop_traffic(running)
            at_rest = look(running, warm_up, seconds, console, "at rest")
    except BenchFailed as failure:
        console.print(f"[red]{failure}[/]")
        sys.exit(1)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    judged = [
        *rows("with traffic", with_traffic, MOST_WITH_TRAFFIC),
        *rows("at rest", at_rest, MOST_AT_REST),
    ]
    results.show(judged, console)
    results.write(judged, out or paths.var_folder() / "newcomer.json")
    sys.exit(0 if all(result.ok for result in judged) else 1)


def look(running: Stack, warm_up: int, seconds: int, console: Console, when: str) -> dict[str, float]:
    """Cores by part over so many seconds, after the warm-up. Raises BenchFailed."""
    console.print(f"[dim]{when}: {warm_up} s to run in, {seconds} s to look[/]")
    _rest(running, warm_up)
    before, begin = taken(running), time.monotonic()
    _rest(running, seconds)
    after, elapsed = taken(running), time.monotonic() - begin
    cores: defaultdict[str, float] = defaultdict(float)
    for process, (part, spent) in after.items():
        cores[part] += (spent - before.get(process, (part, 0.0))[1]) / elapsed
    return dict(cores)


def taken(running: Stack) -> dict[tuple[int, float], tuple[str, float]]:
    """Part and seconds of processor time of each process of the line, by process id and start."""
    spent = {}
    for process in orphans.find(running.places):
        try:
            with process.oneshot():
                times = process.cpu_times()
                key = process.pid, process.create_time()
                spent[key] = _part(process.cmdline()), times.user + times.system
        except psutil.Error:  # it has ended meanwhile
            continue
    return spent


def rows(when: str, cores: Mapping[str, float], bar: float) -> list[Result]:
    """The sum against its bar, and the parts of it, largest first."""
    large = {part: share for part, share in cores.items() if share >= _TELLS_OF}
    rest = sum(cores.values()) - sum(large.values())
    parts = [*sorted(large.items(), key=lambda item: -item[1]), ("all others", rest)]
    return [
        results.at_most(f"demo {when}", sum(cores.values()), "cores", bar),
        *(results.told(f"… {part}", share, "cores") for part, share in parts),
    ]


def stop_traffic(running: Stack) -> None:
    """The generator rests. Raises BenchFailed."""
    headers = {"Authorization": f"Bearer {running.operations_key}"}
    answer = httpx.put(
        f"{running.generator}/v1/traffic", json={"rate": 0}, headers=headers, timeout=20, trust_env=False
    )
    if answer.is_error:
        raise BenchFailed(f"the generator goes on: {answer.text}")


def _part(words: list[str]) -> str:
    """What a process is, from its command line."""
    line = " ".join(words)
    known = {
        "kafka.Kafka": "Kafka",
        "SparkSubmit": "the engine's JVM",
        "worker_daemon": "the engine's workers",
        "postgres": "Postgres",
    }
    for word, name in known.items():
        if word in line:
            return name
    return " ".join(Path(word).name for word in words if not word.startswith("-"))[:40]


def _rest(running: Stack, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        running.check()
        time.sleep(min(1.0, max(0.0, deadline - time.monotonic())))


if __name__ == "__main__":
    main()
