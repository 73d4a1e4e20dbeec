"""What tried rules are held against: live rules, labels, and whoever waits."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_contracts.rules.rule_definition import parse
from tripline_engine.backtest.beside import beside_of
from tripline_engine.backtest.label_tally import LabelTally
from tripline_engine.backtest.labels import Labels, UnreadableLabels, read_labels
from tripline_engine.backtest.progress_file import Abandoned, ProgressFile
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.errors import BadSettings

COUNT = {
    "aggregatorFunctionType": "COUNT", "groupingKeyNames": ["payeeId"], "limitOperatorType": ">=", "limit": 1,
    "windowSeconds": 60,
}  # fmt: skip
RULES = [TriedRule(number, "tried", parse(COUNT, TRANSACTION)) for number in (1, 2)]


@pytest.mark.parametrize(
    ("texts", "beside"),
    [([], {}), (["17"], {1: 17, 2: 17}), (["17", "2=5"], {1: 17, 2: 5}), (["1=17"], {1: 17})],
)
def test_a_live_rule_for_all_or_for_one(texts: list[str], beside: dict[int, int]) -> None:
    assert beside_of(texts, RULES) == beside


@pytest.mark.parametrize(
    ("text", "message"),
    [("x", "expected a rule's id"), ("3=17", "no tried rule has the id 3; they have 1, 2")],
)
def test_another_option_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadSettings, match=message):
        beside_of([text], RULES)


def test_precision_and_recall_are_of_what_people_decided() -> None:
    labels = Labels({"a": True, "b": True, "c": False, "d": False})
    tally = LabelTally(labels)
    for transaction_id in ("a", "a", "c", "nobody", "nobody"):
        tally.take(transaction_id)
    assert tally.to_json() == {
        "fraud": 2, "falsePositives": 2, "alertsOnFraud": 2, "alertsOnFalsePositives": 1, "fraudFound": 1,
        "precision": "0.6667", "recall": "0.5000",
    }  # fmt: skip
    nothing = LabelTally(Labels()).to_json()
    assert (nothing["precision"], nothing["recall"]) == (None, None)


def test_labels_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text('{"id": "a", "fraud": true}\n{"id": "b", "fraud": false}\n')
    assert read_labels(file) == Labels({"a": True, "b": False})
    for line in ('{"id": 7, "fraud": true}', '{"id": "a"}', "x", '{"id": "a", "fraud": true, "by": "me"}'):
        file.write_text(f'{{"id": "a", "fraud": true}}\n{line}\n')
        with pytest.raises(UnreadableLabels, match="line 2"):
            read_labels(file)
    with pytest.raises(UnreadableLabels, match="can't be read"):
        read_labels(tmp_path / "none")


def test_progress_is_told_twice_a_second_and_to_somebody(tmp_path: Path) -> None:
    file, now = tmp_path / "progress.json", [0.0]
    progress = ProgressFile(file, lambda: now[0], os.getppid())
    progress.tell(1, 8, 10, 0)
    progress.tell(2, 8, 20, 1)
    assert json.loads(file.read_text()) == {"share": 0.125, "transactions": 10, "alerts": 0}
    now[0] = 0.6
    progress.tell(9, 8, 30, 2)
    assert json.loads(file.read_text()) == {"share": 0.999, "transactions": 30, "alerts": 2}
    orphan = ProgressFile(file, lambda: now[0], os.getpid())
    with pytest.raises(Abandoned):
        orphan.tell(1, 8, 10, 0)
