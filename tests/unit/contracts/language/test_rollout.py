"""Which groups a rollout has: the bucket as its description says it, and none that a wider one lacks."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.support.example_files import EXAMPLES, read_example
from tripline_contracts.rules.rollout import BUCKETS, bucket_of, is_on_trial

ONE_GROUP = {"payeeId": "25", "beneficiaryId": "12"}

HASHED = [
    (12, ONE_GROUP, b'12:{"beneficiaryId":"12","payeeId":"25"}', 51, "names in order"),
    (12, {"payeeId": "25"}, b'12:{"payeeId":"25"}', 95, "one field"),
    (1, {}, b"1:{}", 35, "the one group of a rule that groups by nothing"),
    (1, {"payeeId": "25"}, b'1:{"payeeId":"25"}', 34, "of another rule another bucket"),
    (12, {"beneficiaryId": "Ä12"}, '12:{"beneficiaryId":"Ä12"}'.encode(), 58, "in UTF-8, not escaped"),
    (12, {"paymentAmount": "-100"}, b'12:{"paymentAmount":"-100"}', 65, "an amount in steps"),
]


@pytest.mark.parametrize(("rule_id", "group", "data", "bucket", "reason"), HASHED)
def test_a_bucket_is_what_the_hash_of_rule_and_group_leaves(
    rule_id: int, group: dict[str, str], data: bytes, bucket: int, reason: str
) -> None:
    assert int(hashlib.sha256(data).hexdigest()[:16], 16) % 100 == bucket, reason
    assert bucket_of(rule_id, group) == bucket, reason


def test_the_bucket_of_the_examples() -> None:
    """`printf '12:{"beneficiaryId":"12","payeeId":"25"}' | sha256sum` begins with 49efc3ef34793707."""
    assert bucket_of(12, ONE_GROUP) == 0x49EFC3EF34793707 % 100


def test_buckets_are_of_about_the_same_size() -> None:
    sizes = Counter(bucket_of(12, {"payeeId": str(payee)}) for payee in range(20_000))
    assert set(sizes) == set(range(BUCKETS))
    # 200 in each on average, with a standard deviation of 14
    assert min(sizes.values()) > 200 - 5 * 14
    assert max(sizes.values()) < 200 + 5 * 14


@settings(deadline=None)
@given(
    st.integers(1, 2**53 - 1),
    st.dictionaries(st.sampled_from(["payeeId", "beneficiaryId", "account"]), st.text(max_size=64)),
    st.integers(1, 99),
)
def test_a_wider_rollout_has_all_groups_of_a_narrower_one(
    rule_id: int, group: dict[str, str], percent: int
) -> None:
    assert not is_on_trial(rule_id, group, 0)
    assert is_on_trial(rule_id, group, BUCKETS)
    wider = [is_on_trial(rule_id, group, share) for share in range(percent, BUCKETS)]
    assert wider == sorted(wider)
    assert is_on_trial(rule_id, group, percent) == (bucket_of(rule_id, group) < percent)


def test_the_arms_of_a_rollout_alert_in_each_other_s_place() -> None:
    """The group's bucket is below the percentage: the version on trial counts, and the rule's own is told apart."""
    percent = read_example(EXAMPLES / "rules.v1" / "rule-shadow-rolled-out.json")["percent"]
    for name, name_on_trial in (
        ("alerts.v1/worked-example-3", "shadow-alerts.v1/of-the-rule-itself"),
        ("shadow-alerts.v1/worked-example-3", "alerts.v1/of-the-version-on-trial"),
    ):
        before, then = (read_example(EXAMPLES / f"{stem}.json") for stem in (name, name_on_trial))
        assert {**before, "mode": then["mode"]} == then
        assert before["mode"] != then["mode"]
        assert is_on_trial(then["ruleId"], then["group"], percent)
