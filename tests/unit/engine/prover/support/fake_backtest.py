"""A backtest that takes no history: the command of a job, which does what the names of its rules say.

It is a process, writes the files that the real one writes, and ends as the real one ends.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tripline_engine.prover.backtest_job import Asked, BacktestJob

ALERTS = 1_203
"""More than are fetched at once."""


def fake_job(asked: Asked, seconds: float = 60) -> BacktestJob:
    """A job of this command."""
    # Here and not above: the command itself needs none of it, and takes a second to import it.
    from tripline_engine.prover.backtest_job import BacktestJob  # noqa: PLC0415

    return BacktestJob(asked, seconds, (sys.executable, __file__))


def main(words: list[str]) -> None:
    """Its commands and options are those of `tripline-engine`."""
    command, words = words[0], words[1:]
    options = dict(zip(words[:-1:2], words[1:-1:2], strict=True))
    rules = [json.loads(text) for text in Path(words[-1]).read_text("utf-8").split("---\n") if text]
    progress, parent = Path(options["--progress"]), os.getppid()
    new = progress.with_suffix(".new")
    new.write_text(json.dumps({"share": 0.25, "transactions": 500, "alerts": 7}))
    new.replace(progress)
    if rules[0]["name"] == "never":
        while os.getppid() == parent:
            time.sleep(0.01)  # until it is ended, or whoever asked has
        sys.exit(1)
    if rules[0]["name"] == "fails":
        sys.stderr.write('{"event": "a line of the log"}\ntripline-engine: there is no history\n')
        sys.exit(1)
    if rules[0]["name"] == "dies":
        os.abort()
    if command == "estimate":
        out = Path(options["--out"])
        out.mkdir()
        (out / "result.json").write_text(json.dumps(made_up_sample()))
        return
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    labels = [json.loads(line) for line in Path(options["--labels"]).read_text("utf-8").splitlines()]
    out = Path(options["--out"])
    out.mkdir()
    kept = min(ALERTS, int(options["--most-alerts"]))
    texts = [json.dumps({"alertId": f"a{n}", "ruleId": rules[0]["ruleId"]}) for n in range(kept)]
    pq.write_table(pa.table({"alert": pa.array(texts, pa.string())}), out / "alerts.parquet")
    # what is known today is a history of its own
    batches = 7 if options["--knowledge"] == "today" else 3
    result = {
        "engine": "e", "microBatches": batches, "transactions": 2_000, "seconds": 1.5,
        "rules": [_of_rule(rule, options, len(labels)) for rule in rules],
    }  # fmt: skip
    (out / "result.json").write_text(json.dumps(result))


def made_up_sample() -> dict[str, Any]:
    """What `tripline-engine estimate` writes: a quarter of the groups, over two days."""
    return {
        "engine": "e", "from": 1_777_600_000_000, "until": 1_777_600_000_000 + 2 * 86_400_000,
        "transactions": 2_000, "seconds": 1.5, "parts": 4, "grouped": True, "bareBytes": 1_000_000,
        "slices": [{"evaluations": 21_600 + 400 * n, "bytes": 1_100_000 + n * 1_000} for n in range(8)],
        "alerts": {"clusters": 10, "sum": 30, "squares": 110, "daySquares": 70},
        "groups": {"clusters": 10, "sum": 15, "squares": 25, "daySquares": 15},
    }  # fmt: skip


def _of_rule(rule: dict[str, Any], options: dict[str, str], labels: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "ruleId": rule["ruleId"], "name": rule["name"], "alerts": ALERTS, "groups": 1,
        "topGroups": [{"group": {"payeeId": "7"}, "alerts": ALERTS}],
        "hours": {"2026-05-01T11:00:00Z": ALERTS - 3, "2026-05-01T10:00:00Z": 3},
        "labelled": {
            "fraud": labels, "falsePositives": 0, "alertsOnFraud": labels, "alertsOnFalsePositives": 0,
            "fraudFound": labels, "precision": "1.0000" if labels else None, "recall": None,
        },
    }  # fmt: skip
    tried, _, live = options.get("--beside", "").partition("=")
    if tried == str(rule["ruleId"]):
        row["beside"] = {"ruleId": int(live), "both": 1_000, "onlyTried": 203, "onlyLive": 12}
    return row


if __name__ == "__main__":
    main(sys.argv[1:])
