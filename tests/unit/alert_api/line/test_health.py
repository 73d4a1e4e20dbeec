"""How the line is: what is said of each part, by one look, and what callers are told."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from alert_api.adapters.health.part_probe import PartProbe
from alert_api.adapters.upstream import Upstream
from alert_api.api.console_data import Line
from alert_api.domain.health.part_health import PARTS, SECTIONS
from alert_api.domain.health.reading import Reading, Sample
from alert_api.domain.health.verdicts import BEHIND_RECORDS, judged, published_position
from alert_api.errors import UpstreamUnavailable
from alert_api.part_addresses import NAMED, read_parts
from alert_api.service.health.health_desk import KEPT_MS, HealthDesk, Probe
from tests.unit.alert_api.support.samples import NOWHERE, app, key
from tripline_demo import paths
from tripline_http.errors import ConfigurationError

NOW = 1_800_000_000_000
VIEWER, AS_VIEWER = key("viewer", "alerts:read")
NOBODY, AS_NOBODY = key("nobody", "rules:read")


def reading(trouble: str | None = None, **metrics: float | dict[str, float]) -> Reading:
    """Metrics by name without prefix; of a part's shards a value each."""

    def samples(values: float | dict[str, float]) -> tuple[Sample, ...]:
        if isinstance(values, dict):
            return tuple(Sample(value, {"shard": shard}) for shard, value in values.items())
        return (Sample(values),)

    return Reading(trouble, {f"tripline_{name}": samples(values) for name, values in metrics.items()})


@pytest.mark.parametrize(
    ("name", "seen", "level", "said"),
    [
        ("retention", reading(), "good", None),
        ("prover", reading("Not ready: archive."), "wrong", "It is not ready: Not ready: archive."),
        ("engine", reading(engine_rule_position={"0": 41, "1": 41}), "good", None),
        # one shard is enough to be behind
        ("engine", reading(engine_rule_position={"0": 41, "1": 39}), "behind", "newest 2 changes"),
        ("engine", reading(engine_rule_waiting={"0": 0, "1": 1}), "wrong", "refused an event of the rules"),
        ("engine", reading(engine_takes_transactions=0), "wrong", "history is full"),
        ("engine", reading(engine_takes_transactions=1), "good", None),
        ("engine", reading(engine_lag_records=BEHIND_RECORDS), "behind", "10,000 records wait"),
        ("engine", reading(engine_lag_records=BEHIND_RECORDS - 1), "good", None),
        ("relay", reading(relay_position=41), "good", None),
        ("relay", reading(relay_position=40), "behind", "newest 1 change of"),
        ("relay", reading(rules_differences=1), "wrong", "differ in 1 place."),
        ("relay", reading(rules_foreign_records=2), "wrong", "2 records."),
        ("archiver", reading(archiver_lag_records=BEHIND_RECORDS), "good", None),
        ("archiver", reading(archiver_missing_records_total=3), "wrong", "Kafka deleted 3 records"),
        ("projector", reading(alerts_lag_records=0, alerts_unreadable_total=0), "good", None),
        ("projector", reading(alerts_unreadable_total=1), "wrong", "could not store 1 record "),
        ("redrive", reading(rejected_records_lag=2 * BEHIND_RECORDS), "behind", "20,000 records wait"),
    ],
)
def test_what_is_said_of_a_part(name: str, seen: Reading, level: str, said: str | None) -> None:
    part = judged(name, NOW, seen, 41)
    assert part.level == level
    if said is None:
        assert part.trouble is None
        return
    assert part.trouble is not None
    assert said in part.trouble.sentence
    for text in (part.trouble.sentence, part.trouble.advice):
        assert text.endswith(".")


def test_lag_and_positions() -> None:
    engine = judged(
        "engine", NOW, reading(engine_lag_records={"0": 3, "1": 4}, engine_rule_position={"0": 9, "1": 7}), 9
    )
    assert (engine.lag, engine.position, engine.shards) == (7, 7, {"0": 9, "1": 7})
    assert judged("relay", NOW, reading(relay_position=5), 9).lag == 4
    # What nobody counts is not nothing.
    assert judged("guard", NOW, reading(), 9).lag is None
    assert judged("engine", NOW, reading(engine_rule_position={"0": 9}), None).trouble is None


def test_the_newest_position_is_the_log_s_or_one_that_was_delivered_since() -> None:
    assert published_position(reading(rules_log_position=7, relay_position=6)) == 7
    assert published_position(reading(rules_log_position=7, relay_position=8)) == 8
    assert published_position(reading()) is None
    assert published_position(None) is None


def test_every_section_that_is_named_is_in_the_runbook() -> None:
    runbook = (paths.project_root() / "docs" / "runbook.md").read_text("utf-8")
    assert set(SECTIONS) <= set(re.findall(r"^## (.+)$", runbook, re.MULTILINE))


class Clock:
    """Tells what it is set to."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> int:
        return self.now


def test_a_part_of_which_nothing_is_known_is_not_seen_and_one_that_went_was_seen_last() -> None:
    clock, answers = Clock(), [reading(), reading()]

    def relay() -> Reading:
        if not answers:
            raise UpstreamUnavailable("The relay", "does not answer: ConnectError")
        return answers.pop()

    def archiver() -> Reading:
        raise UpstreamUnavailable("The archiver", "does not answer: ConnectError")

    desk = HealthDesk({"relay": relay, "archiver": archiver}, clock)
    levels = {part.name: (part.level, part.seen_at) for part in desk.look().parts}
    assert list(levels) == list(PARTS)
    assert levels.pop("relay") == ("good", NOW)
    assert levels.pop("archiver") == ("away", None)
    assert set(levels.values()) == {("not_seen", None)}
    clock.now += KEPT_MS - 1
    assert desk.look().looked_at == NOW
    assert len(answers) == 1, "who asks soon after is told of the same look"
    clock.now += 1
    assert desk.look().looked_at == NOW + KEPT_MS
    clock.now += KEPT_MS
    [part] = [part for part in desk.look().parts if part.name == "relay"]
    assert (part.level, part.seen_at) == ("away", NOW + KEPT_MS)
    assert part.trouble is not None
    assert part.trouble.sentence == "The relay does not answer: ConnectError."


def told(probes: dict[str, Probe]) -> dict[str, Any]:
    line = Line(NOWHERE, health=HealthDesk(probes, lambda: NOW))
    answer = app(line=line, keys=[VIEWER]).test_client().get("/v1/health", headers=AS_VIEWER)
    assert answer.status_code == 200
    body: dict[str, Any] = answer.get_json()
    return body


def test_what_callers_are_told() -> None:
    body = told(
        {
            "engine": lambda: reading(engine_rule_position={"10": 7, "9": 7}, engine_lag_records=0),
            "relay": lambda: reading(rules_log_position=8, relay_position=8),
        }
    )
    assert (body["lookedAt"], body["published"], len(body["items"])) == (NOW, 8, len(PARTS))
    [engine] = [part for part in body["items"] if part["part"] == "engine"]
    assert engine == {
        "part": "engine",
        "title": "Engine",
        "level": "behind",
        "seenAt": NOW,
        "lag": 0,
        "position": 7,
        "shards": [{"shard": "9", "position": 7}, {"shard": "10", "position": 7}],
        "trouble": {
            "sentence": "It has not taken the newest 1 change of the rules.",
            "advice": "Wait some seconds; if it stays so, look at the relay first.",
            "section": "A rule is published but not applied",
        },
    }


def test_who_may_not_read_alerts_is_not_told() -> None:
    client = app(keys=[NOBODY]).test_client()
    assert client.get("/v1/health").status_code == 401
    assert client.get("/v1/health", headers=AS_NOBODY).status_code == 403


def probe(ready: httpx.Response, metrics: str = "") -> PartProbe:
    def answer(request: httpx.Request) -> httpx.Response:
        return ready if request.url.path == "/readyz" else httpx.Response(200, text=metrics)

    return PartProbe("The relay", Upstream("The relay", "http://relay.example", httpx.MockTransport(answer)))


def test_a_process_is_asked_for_its_probe_and_its_metrics() -> None:
    metrics = 'tripline_a{shard="0"} 1\ntripline_a{shard="1"} 2\ntripline_b NaN\nprocess_x 3\n'
    seen = probe(httpx.Response(200, json={"status": "ok"}), metrics)()
    assert (seen.trouble, seen.total("tripline_a"), seen.total("tripline_b")) == (None, 3, None)
    assert seen.by_label("tripline_a", "shard") == {"0": 1, "1": 2}
    assert "process_x" not in seen.samples


@pytest.mark.parametrize(
    ("ready", "trouble"),
    [
        (httpx.Response(503, json={"detail": "Not ready: database."}), "Not ready: database."),
        (httpx.Response(503, text="the query has not started"), "the query has not started"),
        (httpx.Response(503), "it does not say why"),
        (httpx.Response(503, text="x" * 9000), "x" * 300),
    ],
)
def test_why_a_process_is_not_ready(ready: httpx.Response, trouble: str) -> None:
    assert probe(ready)().trouble == trouble


def test_metrics_that_cannot_be_read_are_no_reading() -> None:
    with pytest.raises(UpstreamUnavailable, match="has metrics that cannot be read"):
        probe(httpx.Response(200), "tripline_a{ 1\n")()


def test_addresses_of_parts() -> None:
    assert read_parts("") == {}
    assert read_parts(" relay=http://a:1/, guard = https://b ,") == {
        "relay": "http://a:1",
        "guard": "https://b",
    }
    assert set(NAMED) < set(PARTS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("relais=http://a", "names 'relais'; expected one of relay, "),
        ("relay", "has '' for relay; expected relay=http://host:port"),
        ("relay=ftp://a", "has 'ftp://a' for relay"),
        ("relay=http://a,relay=http://b", "names relay twice"),
    ],
)
def test_addresses_that_are_none(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        read_parts(text)
