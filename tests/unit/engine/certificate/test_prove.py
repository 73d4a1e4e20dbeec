"""What engines have recorded is proven: the alerts that the order brings about are those that alerts.v1 tells."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from tests.in_parts import in_parts
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.generators.profile import (
    EVERYTHING_AND_ENTRIES,
    EVERYTHING_AND_MORE,
    THE_WHOLE_LANGUAGE,
    Profile,
)
from tests.oracle.histories.random_history import random_history
from tests.oracle.histories.seeds import seeds
from tests.unit.engine.archive.support.memory_store import START, MemoryTopic
from tests.unit.engine.certificate.support.judged_run import ALWAYS, Judged, add, ran
from tests.unit.engine.support.shard_harness import Engine
from tripline_engine.certificate.certificate import Certificate, UnreadableCertificate
from tripline_engine.certificate.span import Span
from tripline_engine.cli import main
from tripline_engine.errors import OrderBroken, RecordsMissing
from tripline_engine.kafka_log.offset_range import OffsetRange
from tripline_engine.topic_names import ALERTS, TRANSACTIONS

FEW_STEPS = (3, 6)
"""Micro-batches of a history: an engine's time goes by their number, and as much happens in fewer of them."""
PROFILES = [EVERYTHING_AND_MORE, EVERYTHING_AND_ENTRIES, THE_WHOLE_LANGUAGE, replace(Profile(), commands=0.4)]


@in_parts(20, with_soak=60)
@pytest.mark.slow
def test_random_histories_are_proven_in_any_number_of_shards(
    histories: range,
    record_property: Callable[[str, object], None],
) -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)
    seen: Counter[str] = Counter()

    def proven(seed: int, profile: Profile, shards: tuple[int, int], share: float) -> None:
        batches, rng = random_history(seed, replace(profile, micro_batches=FEW_STEPS)), Random(seed)
        cut, live = max(1, int(len(batches) * share)), Engine(shards[0])
        live.run(batches[:cut])
        then = Judged.of(batches[:cut], live.out, Random(seed))
        times = sorted(alert["transaction"]["eventTime"] for alert in then.told())
        some = Span(rng.choice(times), rng.choice(times) + 1) if times and rng.random() < 0.5 else ALWAYS
        span = some if some.first < some.until else Span(some.until - 1, some.first + 1)
        made = then.prove(span, shards[1])
        ids = {alert["alertId"] for alert in then.told() if alert["transaction"]["eventTime"] in span}
        assert made.matches, made.document["differences"]
        assert made.document["alerts"]["count"] == len(ids)
        # the engine has gone on since, and the certificate still holds
        live.run(batches[cut:])
        again = Judged.of(batches, live.out, Random(seed)).prove(span, against=made)
        assert made.differences(again) == []
        assert made.digest == again.digest
        seen["histories"] += 1
        seen["alerts"] += len(ids)
        told = [alert for alert in then.told() if alert["alertId"] in ids]
        seen["of parties"] += any("side" in alert for alert in told)
        seen["behind a limit"] += "limitMeasure" in json.dumps(told)
        seen["went on"] += cut < len(batches)

    for seed, draw in seeds(histories):
        proven(
            seed, draw.choice(PROFILES), draw.choice([(1, 1), (2, 1), (1, 2), (3, 2)]), draw.uniform(0.3, 1)
        )
    record_property("proven", f"{dict(seen)}")
    assert seen["alerts"] > 100
    assert min(seen["went on"], seen["of parties"], seen["behind a limit"]) > 0


@pytest.fixture
def judged() -> Judged:
    """Three payments a minute for ten minutes, of one payee; from the third on each trips the rule."""
    rule = Registry().publish(1, draft("COUNT", ">=", "3", by=("payeeId",), seconds=300), 0, START)
    batches = [batch(events=[rule])]
    for minute in range(10):
        now = START + minute * 60_000
        batches.append(batch(ticks=[now], records=[payment(3 * minute + n, now + n) for n in range(3)]))
    return ran(batches)


def test_what_matches_says_so(judged: Judged) -> None:
    made = judged.prove()
    assert made.document["outcome"] == "match"
    assert made.document["alerts"]["count"] == 28
    (engine,) = made.document["engines"]
    assert (engine["microBatches"], engine["settled"]) == (11, 10)
    assert {name: topic["records"] for name, topic in engine["inputs"].items() if name != "leftOut"} == {
        "engine-order.v1": 11,
        "rules.v1": 1,
        "engine-ticks.v1": 10,
        "transactions.v1": 30,
    }


def test_the_span_is_one_of_event_times(judged: Judged) -> None:
    span = Span(START + 60_000, START + 60_002)
    assert judged.prove(span).document["alerts"]["count"] == 2


def test_an_altered_alert_is_named_with_what_differs(judged: Judged) -> None:
    kept = judged.alerts.kept[0]
    alert = json.loads(kept[1].value or b"")
    kept[1] = replace(kept[1], value=json.dumps({**alert, "value": "99"}).encode())
    made = judged.prove()
    assert made.document["outcome"] == "mismatch"
    assert made.document["alerts"]["count"] == 27
    (one,) = made.document["differences"]
    assert (one["difference"], one["alertId"]) == ("altered", alert["alertId"])
    assert one["members"] == [
        {"kind": "member", "member": "value", "stored": "99", "derived": alert["value"]}
    ]


def test_a_lost_alert_and_a_forged_one_are_named(judged: Judged) -> None:
    lost = json.loads(judged.alerts.kept[1].pop(2).value or b"")
    kept = judged.alerts.kept[1]
    kept[:] = [replace(record, offset=offset) for offset, record in enumerate(kept)]
    forged = {**lost, "alertId": "0b0c88eb-67fa-50ed-8172-a9c76caa6722", "ruleId": 7}
    add(judged.alerts, forged)
    document = judged.prove().document
    assert document["outcome"] == "mismatch"
    assert (document["alerts"]["notTold"], document["alerts"]["notDerived"]) == (1, 1)
    assert {(one["difference"], one["alertId"]) for one in document["differences"]} == {
        ("not told", lost["alertId"]),
        ("not derived", forged["alertId"]),
    }


def test_the_last_micro_batch_may_not_have_told_all_yet(judged: Judged) -> None:
    newest = max(
        (record for kept in judged.alerts.kept.values() for record in kept),
        key=lambda record: json.loads(record.value or b"")["transaction"]["eventTime"],
    )
    kept = judged.alerts.kept[newest.partition]
    kept[:] = [replace(one, offset=offset) for offset, one in enumerate(r for r in kept if r is not newest)]
    document = judged.prove().document
    assert (document["outcome"], document["alerts"]["count"]) == ("match", 27)


def test_an_engine_that_runs_tells_more_meanwhile(judged: Judged) -> None:
    """Its newest alerts are there, and by the survey the micro-batch that they are of was not recorded yet."""
    order = judged.recording.topics["engine-order.v1"]
    survey_sees = 8

    @dataclass
    class Late(MemoryTopic):
        seen: int = survey_sees

        def span(self, partition: int) -> OffsetRange:
            whole = MemoryTopic.span(self, partition)
            return whole._replace(until=min(whole.until, self.seen))

    late = Late(kept=order.kept, name=order.name)
    judged.recording.topics["engine-order.v1"] = late

    class Told(MemoryTopic):
        def records(self, partition: int, start: int, until: int) -> Any:
            late.seen = 1 << 40
            return MemoryTopic.records(self, partition, start, until)

    judged.alerts = Told(kept=judged.alerts.kept, name=ALERTS)
    made = judged.prove()
    assert made.matches
    assert made.document["alerts"]["count"] == 28
    (engine,) = made.document["engines"]
    assert engine["settled"] == survey_sees - 1
    assert engine["microBatches"] == 11


def test_a_topic_that_grows_at_each_look_has_all_that_was_judged(judged: Judged) -> None:
    class Growing(MemoryTopic):
        looks = 0

        def span(self, partition: int) -> OffsetRange:
            self.looks += 1
            whole = MemoryTopic.span(self, partition)
            return whole._replace(until=whole.until + self.looks)

    topics = judged.recording.topics
    topics[TRANSACTIONS] = Growing(kept=topics[TRANSACTIONS].kept)
    assert judged.prove().document["alerts"]["count"] == 28


def test_of_one_engine_among_several(judged: Judged) -> None:
    foreign = {**judged.told()[0], "alertId": "0b0c88eb-67fa-50ed-8172-a9c76caa6722"}
    add(judged.alerts, foreign)
    assert not judged.prove().matches
    made = judged.prove(engine="engine-under-test")
    assert made.matches
    assert made.document["alerts"]["notDerived"] == 1
    with pytest.raises(OrderBroken, match="no micro-batch of engine other; there are engine-under-test"):
        judged.prove(engine="other")


def test_a_certificate_is_read_back_and_an_edited_one_is_refused(judged: Judged, tmp_path: Path) -> None:
    made, file = judged.prove(), tmp_path / "certificate.json"
    made.write(file)
    assert Certificate.read(file).differences(made) == []
    file.write_text(file.read_text().replace('"count": 28', '"count": 29'))
    with pytest.raises(UnreadableCertificate, match="the certificate was changed"):
        Certificate.read(file)
    file.write_text("[]")
    with pytest.raises(UnreadableCertificate, match="is no certificate"):
        Certificate.read(file)
    file.write_text('{"format": "other"}')
    with pytest.raises(
        UnreadableCertificate, match="format: expected tripline-replay-certificate/1, found 'other'"
    ):
        Certificate.read(file)
    with pytest.raises(UnreadableCertificate, match="can't be read"):
        Certificate.read(tmp_path / "none")


def test_a_certificate_does_not_hold_for_other_transactions(judged: Judged) -> None:
    made = judged.prove()
    kept = judged.recording.topics[TRANSACTIONS].kept[0]
    # of the first one, which trips nothing, what no rule looks at
    kept[0] = replace(kept[0], value=(kept[0].value or b"").replace(b"CSH", b"CRD"))
    again = judged.prove(against=made)
    assert again.matches
    assert made.digest != again.digest
    said = made.differences(again)
    assert any(one.startswith("engines[0].inputs.transactions.v1.sha256: ") for one in said), said


def test_what_is_needed_and_gone_is_refused(judged: Judged) -> None:
    judged.alerts.low[0] = 1
    with pytest.raises(RecordsMissing, match=r"alerts\.v1 partition 0 has offsets 1 to .* all of its alerts"):
        judged.prove()
    judged.alerts.low[0] = 0
    made = judged.prove()
    del judged.recording.topics["engine-order.v1"].kept[0][5:]
    with pytest.raises(RecordsMissing, match="5 micro-batches, and the certificate is of 11"):
        judged.prove(against=made)


HOUR = 3_600_000


def test_transactions_that_the_span_cannot_rest_on_may_be_gone() -> None:
    rule = Registry().publish(1, draft("COUNT", ">=", "2", by=("payeeId",), seconds=60), 0, START)
    batches = [batch(events=[rule])]
    for minute in range(0, 7 * 60, 10):
        now = START + minute * 60_000
        batches.append(batch(ticks=[now], records=[payment(2 * minute + n, now + n) for n in range(2)]))
    judged = ran(batches)
    whole = judged.prove(Span(START + 6 * HOUR, START + 7 * HOUR))
    judged.recording.topics[TRANSACTIONS].low[0] = 20
    made = judged.prove(Span(START + 6 * HOUR, START + 7 * HOUR))
    assert made.matches
    assert made.document["alerts"]["sha256"] == whole.document["alerts"]["sha256"]
    assert made.document["engines"][0]["inputs"]["leftOut"] == 2
    assert made.digest != whole.digest
    with pytest.raises(RecordsMissing, match=r"may rest on them: twice the widest window .* 60 s of rule 1"):
        judged.prove()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--from", "2026-05-01T00:00:00Z"], "--from and --to: both are needed"),
        (["--from", "2026-05-01", "--to", "x"], "--from: expected a time with an offset"),
        (["--from", "2026-05-01T00:00:00Z", "--to", "noon"], "--to: expected a time with an offset, as in"),
        (
            ["--from", "2026-05-01T02:00:00+02:00", "--to", "2026-05-01T00:00:00Z"],
            "--to: expected a time after",
        ),
        (["--check", "c.json", "--engine", "e"], "--check: the certificate says which span"),
    ],
)
def test_options_are_refused_by_name(words: list[str], said: str) -> None:
    result = CliRunner().invoke(main, ["prove", *words])
    assert result.exit_code == 1
    assert said in result.output
