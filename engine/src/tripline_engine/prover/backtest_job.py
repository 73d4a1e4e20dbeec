"""One backtest or estimate under way: a process of its own, and the folder that it works in."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Protocol

import pyarrow.parquet as pq

from tripline_contracts.cloudevents import rfc3339

State = Literal["running", "done", "failed", "cancelled"]
AS_IT_WAS: Final = "as-it-was"
KNOWLEDGE: Final = (AS_IT_WAS, "today")
_COMMAND: Final = (sys.executable, "-c", "from tripline_engine.cli import main; main()")
_SAID: Final = "tripline-engine: "
_END_SECONDS: Final = 5.0


class Asked(Protocol):
    """What a job is to do."""

    @property
    def most_seconds(self) -> int | None:
        """It may take so long; None where it does not say."""

    def words(self, folder: Path) -> list[str]:
        """The command, its options and files; what comes of it goes to the folder `out`."""

    def write(self, folder: Path) -> None:
        """The files that the command reads: JSON is YAML."""


@dataclass(frozen=True, slots=True)
class BacktestAsked:
    """A backtest.

    :ivar rules: definitions with ruleId and name
    :ivar first: event times (ms) of the span, `until` excluded
    :ivar beside: live rules to compare with, by tried one
    :ivar labels: by transaction id, whether it was fraud
    :ivar most_alerts: alerts that are kept
    :ivar knowledge: what is known at each moment: `KNOWLEDGE`
    """

    rules: Sequence[Mapping[str, Any]]
    first: int
    until: int
    beside: Mapping[int, int]
    labels: Mapping[str, bool]
    most_alerts: int
    most_seconds: int | None = None
    knowledge: str = AS_IT_WAS

    def words(self, folder: Path) -> list[str]:
        """The command, its options and files."""
        words = ["backtest", "--from", rfc3339(self.first), "--to", rfc3339(self.until)]
        for tried, rule in self.beside.items():
            words += ["--beside", f"{tried}={rule}"]
        words += ["--knowledge", self.knowledge]
        words += ["--out", str(folder / "out"), "--progress", str(folder / "progress.json")]
        words += ["--most-alerts", str(self.most_alerts), "--labels", str(folder / "labels.jsonl")]
        return [*words, str(folder / "rules.yaml")]

    def write(self, folder: Path) -> None:
        """The files that the command reads: JSON is YAML."""
        documents = "".join(f"---\n{json.dumps(rule)}\n" for rule in self.rules)
        (folder / "rules.yaml").write_text(documents, "utf-8")
        labels = (json.dumps({"id": name, "fraud": fraud}) for name, fraud in self.labels.items())
        (folder / "labels.jsonl").write_text("".join(f"{line}\n" for line in labels), "utf-8")


@dataclass(frozen=True, slots=True)
class EstimateAsked:
    """An estimate.

    :ivar rule: a definition with ruleId and name
    :ivar days: of the newest history at most
    :ivar transactions: in the sample, about at most
    """

    rule: Mapping[str, Any]
    days: int
    transactions: int
    most_seconds: int | None

    def words(self, folder: Path) -> list[str]:
        """The command, its options and files."""
        words = ["estimate", "--days", str(self.days), "--transactions", str(self.transactions)]
        words += ["--out", str(folder / "out"), "--progress", str(folder / "progress.json")]
        return [*words, str(folder / "rule.yaml")]

    def write(self, folder: Path) -> None:
        """The file that the command reads."""
        (folder / "rule.yaml").write_text(json.dumps(self.rule), "utf-8")


class BacktestJob:
    """Runs from when it is made. It is ended after `seconds`, or fewer, and its folder goes with `close`."""

    def __init__(self, asked: Asked, seconds: float, command: Sequence[str] = _COMMAND) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tripline-backtest-")
        most = asked.most_seconds
        self._setting = "TRIPLINE_BACKTEST_SECONDS" if most is None else "TRIPLINE_ESTIMATE_SECONDS"
        self._lock, self._seconds = threading.Lock(), seconds if most is None else min(most, seconds)
        self._ended_as: State | None = None
        folder = Path(self._folder.name)
        asked.write(folder)
        self._said = folder / "said"
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(
                [*command, *asked.words(folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
            )
        self._started = time.monotonic()

    def state(self) -> State:
        """How it stands."""
        with self._lock:
            if self._ended_as is None and self._process.poll() is not None:
                self._ended_as = "failed" if self._process.returncode else "done"
            if self._ended_as is None and time.monotonic() - self._started > self._seconds:
                self._kill()
                self._said.write_text(
                    f"{_SAID}it has taken {self._seconds:g} s, and is not done: {self._setting} sets how long it may"
                    " take\n"
                )
                self._ended_as = "failed"
            return self._ended_as or "running"

    def progress(self) -> dict[str, Any]:
        """Share, transactions and alerts, and seconds since its start; a share of 0 before anything is judged."""
        progress: dict[str, Any] = {"share": 0.0, "transactions": 0, "alerts": 0}
        with suppress(OSError, ValueError):
            progress |= json.loads((Path(self._folder.name) / "progress.json").read_text("utf-8"))
        return {**progress, "seconds": round(time.monotonic() - self._started, 1)}

    def failure(self) -> str:
        """Why it failed: the command's own sentence, or its last words."""
        lines = [line for line in self._said.read_text("utf-8", "replace").splitlines() if line.strip()]
        sentences = [line.removeprefix(_SAID) for line in lines if line.startswith(_SAID)]
        if sentences:
            return sentences[-1]
        last = lines[-1][:300] if lines else "it said nothing"
        return f"it ended with status {self._process.returncode}: {last}"

    def result(self) -> dict[str, Any]:
        """What came of it, when it is done."""
        result: dict[str, Any] = json.loads((self._out / "result.json").read_text("utf-8"))
        return result

    def alerts(self, after: int, limit: int) -> list[Any]:
        """Kept alerts from the one with that number on, counted from 0."""
        table = pq.read_table(self._out / "alerts.parquet", columns=["alert"])
        return [json.loads(text) for text in table.slice(after, limit)["alert"].to_pylist()]

    def cancel(self) -> None:
        """Ends it now, if it runs."""
        if self.state() == "running":
            with self._lock:
                self._kill()
                self._ended_as = "cancelled"

    def close(self) -> None:
        """Ends it, and deletes what it has written."""
        self.cancel()
        self._folder.cleanup()

    @property
    def _out(self) -> Path:
        return Path(self._folder.name) / "out"

    def _kill(self) -> None:
        self._process.kill()
        self._process.wait(_END_SECONDS)
