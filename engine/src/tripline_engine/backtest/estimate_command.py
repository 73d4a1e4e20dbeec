"""The command `estimate`: its options, and what it writes."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

import click

from tripline_engine import logs
from tripline_engine.backtest.command import new_folder
from tripline_engine.backtest.estimate import Sampling, sampling_of
from tripline_engine.backtest.estimate import estimate as run_estimate
from tripline_engine.backtest.progress_file import ProgressFile
from tripline_engine.backtest.recent import recent_history
from tripline_engine.backtest.tried_rules import read_rules
from tripline_engine.certificate.settings import from_environment
from tripline_engine.errors import BadSettings
from tripline_engine.prover.settings import Judged
from tripline_engine.rebuild.journals import journals


@dataclass(frozen=True, slots=True)
class EstimateOptions:
    """How an estimate is made.

    :ivar days: of the newest history at most
    :ivar transactions: in the sample, about at most
    :ivar out: a new folder for the result; None: print it
    """

    days: int
    transactions: int
    out: Path | None = None
    progress: Path | None = None


def estimate(file: Path, options: EstimateOptions) -> None:
    """Tries the rule on a sample, and writes or prints what came of it. Raises EngineError."""
    settings = from_environment()
    logs.configure(settings.log_level)
    rules = read_rules([file], settings.event_type)
    if len(rules) != 1:
        raise BadSettings(f"{file}: expected one rule, not {len(rules)}")
    out = None if options.out is None else new_folder(options.out)
    told = None if options.progress is None else ProgressFile(options.progress, time.monotonic, os.getppid())
    judged = Judged(settings.event_type, settings.clock)
    with journals(settings, settings.event_type) as by_topic:
        span, history = recent_history(rules[0], options.days, by_topic, settings.event_type)
        sampling: Sampling = sampling_of(rules[0], judged, history.transactions, options.transactions)

        def progressed(read: int, alerts: int) -> None:
            if told is not None:
                told.tell(read, history.transactions, read, alerts)

        result = run_estimate(rules[0], span, history, by_topic, judged, sampling, progressed)
    text = json.dumps(result, indent=2, ensure_ascii=False)
    if out is None:
        click.echo(text)
    else:
        (out / "result.json").write_text(f"{text}\n", "utf-8")
