"""Any bytes from the topic end as an alert or as a record set aside with its reason."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alert_api.adapters.alert_schema import alert_validator
from alert_api.service.records import MAX_RECORD_BYTES, ReceivedAlert, Unreadable, read_record
from tests.unit.alert_api.support.samples import alert, alert_id, received, record, with_late, without
from tripline_contracts import schemas
from tripline_contracts.errors import SchemaViolation

VALIDATE = alert_validator()


def test_an_alert_is_kept_as_its_own_text() -> None:
    raw = json.dumps(alert(7), indent=3).encode()
    read = read_record(record(raw), VALIDATE, "transactionId")
    assert isinstance(read, ReceivedAlert)
    assert (read.alert_id, read.rule_id, read.group) == (alert_id(7), 1, {"payeeId": "25"})
    assert read.content.encode() == raw


def chained() -> dict[str, Any]:
    """The contracts' example of an alert of three conditions."""
    path = resources.files("tripline_contracts").joinpath("examples", "alerts.v1", "chained.json")
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def test_an_alert_of_conditions_is_kept_as_its_own_text() -> None:
    raw = json.dumps(chained()).encode()
    read = read_record(record(raw), VALIDATE, "transactionId")
    assert isinstance(read, ReceivedAlert)
    assert read.group == {"beneficiaryId": "41", "payeeId": "25"}
    assert read.content.encode() == raw


def test_the_widest_alert_of_conditions_is_not_too_long() -> None:
    listed = {"transactionId": "t" * 64, "eventTime": 1_763_640_000_000, "value": "9" * 18 + ".999999"}
    contributors = {"count": 101, "transactions": [listed] * 100, "truncated": True}
    condition = {**chained()["conditions"][0], "contributors": contributors}
    raw = json.dumps({**chained(), "conditions": [condition] * 16}).encode()
    assert len(raw) < MAX_RECORD_BYTES / 2
    assert isinstance(read_record(record(raw), VALIDATE, "transactionId"), ReceivedAlert)


BROKEN: list[tuple[Any, str, str]] = [
    (None, "empty", "a tombstone"),
    (b"", "empty", "no bytes"),
    (b"\xff\xfe", "not_json", "no UTF-8"),
    (b"\xef\xbb\xbf{}", "not_json", "a byte order mark"),
    (b'{"alertId":', "not_json", "cut off"),
    (b"{} {}", "not_json", "two values"),
    (b"[NaN]", "not_json", "NaN is no JSON"),
    (b'{"a": 1, "a": 2}', "not_json", "a member twice"),
    (b"[" * 200_000, "not_json", "nested beyond reading"),
    (b"9" * 5000, "not_json", "a number of thousands of digits"),
    (b'"' + b"x" * MAX_RECORD_BYTES + b'"', "too_long", "more than a mebibyte"),
    (b"null", "invalid", "JSON, but no object"),
    (without("group"), "invalid", "a member is missing"),
    (alert(surprise=1), "invalid", "a member too many"),
    (alert(alertId="not-a-uuid"), "invalid", "an id that is none"),
    (alert(ruleId=2**63), "invalid", "an id beyond 64 bits"),
    (alert(ruleId=1.0), "invalid", "1.0 is no integer"),
    (alert(eventTime=1.5e300), "invalid", "a float for a time"),
    (alert(group={"payeeId": 25}), "invalid", "a group value that is no text"),
    (alert(value=None), "invalid", "no value, and no conditions"),
    (alert(conditions=[]), "invalid", "conditions, but none"),
    (alert(conditions=chained()["conditions"]), "invalid", "a value beside conditions"),
    (
        {**chained(), "conditions": [{**condition, "holds": 1} for condition in chained()["conditions"]]},
        "invalid",
        "1 is not true",
    ),
    (with_late({"newestEventTime": "soon"}), "invalid", "a text for a time"),
    (alert(ruleName="a\x00b"), "bad_text", "U+0000, which no database text can hold"),
    (json.dumps(alert(ruleName="X")).replace("X", "\\ud800").encode(), "bad_text", "half of a pair"),
]


@pytest.mark.parametrize(("value", "reason", "why"), BROKEN, ids=[case[2] for case in BROKEN])
def test_a_broken_record_is_set_aside(value: Any, reason: str, why: str) -> None:
    read = read_record(record(value), VALIDATE, "transactionId")
    assert isinstance(read, Unreadable)
    assert read.reason == reason
    assert len(read.detail) <= 500
    assert "\x00" not in read.detail
    read.detail.encode()


@given(st.binary(max_size=200))
def test_no_bytes_raise(value: bytes) -> None:
    assert isinstance(read_record(record(value), VALIDATE, "transactionId"), Unreadable)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(sorted(alert())), json_values)
def test_one_member_replaced_by_anything_is_read_or_set_aside(member: str, value: Any) -> None:
    changed = alert(**{member: value})
    read = read_record(record(changed), VALIDATE, "transactionId")
    if isinstance(read, ReceivedAlert):
        schemas.validator("alerts.v1")(changed)


def _accepts(check: Any, value: Any) -> bool:
    try:
        check(value)
    except SchemaViolation:
        return False
    return True


@given(st.sampled_from(sorted(alert())), json_values.filter(lambda value: not isinstance(value, float)))
def test_the_fast_check_judges_as_the_contract_does(member: str, value: Any) -> None:
    changed = alert(**{member: value})
    assert _accepts(VALIDATE, changed) == _accepts(schemas.validator("alerts.v1"), changed)


EXAMPLES = resources.files("tripline_contracts").joinpath("examples", "alerts.v1")


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir() if path.is_file()))
def test_every_example_of_the_contracts_is_read(name: str) -> None:
    assert isinstance(
        read_record(record(EXAMPLES.joinpath(name).read_bytes()), VALIDATE, "transactionId"), ReceivedAlert
    )


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.joinpath("invalid").iterdir()))
def test_every_invalid_example_is_set_aside(name: str) -> None:
    read = read_record(record(EXAMPLES.joinpath("invalid", name).read_bytes()), VALIDATE, "transactionId")
    assert isinstance(read, Unreadable)
    assert read.reason == "invalid"


def test_the_fast_check_takes_a_good_alert() -> None:
    VALIDATE(alert())
    assert received(alert()).detected_at == alert()["detectedAt"]


@pytest.mark.parametrize("letter", ["n", "\U0001f600"])
def test_an_alert_of_the_longest_name_and_values_is_no_dead_letter(letter: str) -> None:
    longest = alert(1, ruleName=letter * 200, group={"payeeId": letter * 64, "beneficiaryId": letter * 64})
    assert isinstance(read_record(record(longest), VALIDATE, "transactionId"), ReceivedAlert)


@pytest.mark.parametrize("change", [{"ruleName": "n" * 201}, {"group": {"payeeId": "1" * 65}}])
def test_one_that_is_longer_is(change: dict[str, object]) -> None:
    read = read_record(record(alert(1, **change)), VALIDATE, "transactionId")
    assert isinstance(read, Unreadable)


def test_the_amount_is_what_the_event_type_calls_so() -> None:
    whole = read_record(record(alert(1)), VALIDATE, "transactionId", "paymentAmount")
    assert isinstance(whole, ReceivedAlert)
    assert whole.amount == alert(1)["transaction"]["paymentAmount"]
    partial = record(EXAMPLES.joinpath("partial-from-catch-up.json").read_bytes())
    for amount_field in ("noSuchField", None):
        read = read_record(partial, VALIDATE, "transactionId", amount_field)
        assert isinstance(read, ReceivedAlert)
        assert read.amount is None
