"""Raw records into rows per shard: order, running maximum, masks, rejects, ranges."""

from __future__ import annotations

import itertools
from hashlib import sha256
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.engine.spark.support.raw_records import batch, pack, payment
from tripline_engine.domain.shard.ports import Kind
from tripline_engine.domain.transactions.sharding import REPORTS, shards_of
from tripline_engine.spark.rows.shard_keys import shard_keys, spark_hash


def of_kind(packed: list[tuple[int, Kind, Any]], kind: Kind) -> list[tuple[int, Any]]:
    return [(shard, content) for shard, k, content in packed if k is kind]


def test_the_running_maximum_goes_over_all_records_rejects_included() -> None:
    rows = [(0, 7, 100, payment(1)), (0, 8, 300, b"broken"), (0, 9, 200, payment(2))]
    packed = pack(1, batch(rows), batch([(0, 12, 250, payment(3)), (0, 13, 400, None)]))
    judged = [row for _, rows in of_kind(packed, Kind.TRANSACTIONS) for row in rows]
    assert [(r["offset"], r["recordTime"], r["runningMax"]) for r in judged] == [
        (7, 100, 100),
        (9, 200, 300),
        (12, 250, 300),
    ]
    assert of_kind(packed, Kind.PARTITION_RANGE) == [
        (0, {"partition": 0, "from": 7, "until": 14, "maxRecordTime": 400})
    ]


def test_each_partition_has_its_own_running_maximum_and_range() -> None:
    rows = [(0, 1, 500, payment(1)), (1, 5, 100, payment(2)), (0, 2, 400, payment(3)), (1, 6, 90, payment(4))]
    packed = pack(1, batch(rows))
    judged = [row for _, rows in of_kind(packed, Kind.TRANSACTIONS) for row in rows]
    assert [(r["partition"], r["offset"], r["runningMax"]) for r in judged] == [
        (0, 1, 500),
        (0, 2, 500),
        (1, 5, 100),
        (1, 6, 100),
    ]
    assert [r["maxRecordTime"] for _, r in of_kind(packed, Kind.PARTITION_RANGE)] == [500, 100]


def test_rejects_carry_what_an_inspector_needs() -> None:
    huge = b"x" * 600_000
    packed = pack(3, batch([(1, 4, 50, huge), (1, 5, 60, None)]))
    [(shard, rejects)] = of_kind(packed, Kind.PARSE_REJECTS)
    assert shard == 0
    first, second = rejects
    assert (first["partition"], first["offset"], first["recordTime"], first["reason"]) == (
        1,
        4,
        50,
        "oversized",
    )
    assert (first["length"], first["sha256"]) == (600_000, sha256(huge).hexdigest())
    assert first["value"] == huge[: 512 * 1024]
    assert (second["reason"], second["length"], second["value"]) == ("unparseable", 0, b"")
    assert of_kind(packed, Kind.TRANSACTIONS) == []


def test_each_transaction_keeps_its_backfill_and_slices_without_one_have_no_column() -> None:
    rows = [(0, 1, 10, payment(1)), (0, 2, 11, b"broken"), (0, 3, 12, payment(3)), (1, 4, 13, payment(4))]
    names = pa.array([None, b"b", b"\xff", None], pa.binary())
    packed = pack(1, batch(rows).append_column("backfill", names))
    judged = of_kind(packed, Kind.TRANSACTIONS)
    assert [[row.get("backfill", "none") for row in part] for _, part in judged] == [
        [None, "\ufffd"],
        ["none"],
    ]
    assert [row["reason"] for _, part in of_kind(packed, Kind.PARSE_REJECTS) for row in part] == [
        "unparseable"
    ]


@given(st.lists(st.integers(1, 7), min_size=1, max_size=6))
def test_few_records_are_gathered_until_they_are_worth_a_pass(sizes: list[int]) -> None:
    """Spark hands over few at a time (`session.LARGE_BATCHES`), and each pass costs something."""
    ends = list(itertools.accumulate(sizes, initial=0))
    batches = [
        batch([(0, i, i, payment(i)) for i in range(start, end)]) for start, end in itertools.pairwise(ends)
    ]
    judged = [part for _, part in of_kind(pack(1, *batches, pass_rows=5), Kind.TRANSACTIONS)]
    assert [row["offset"] for part in judged for row in part] == list(range(ends[-1]))
    assert [row["runningMax"] for part in judged for row in part] == list(range(ends[-1]))
    assert all(len(part) >= 5 for part in judged[:-1])
    # none more than what was short of it, and one that Spark handed over
    assert all(len(part) < 5 + 7 for part in judged)


def test_no_records_give_no_rows() -> None:
    assert pack(2, batch([])) == []


KEYS = st.one_of(st.none(), st.integers(0, 20).map(str), st.text(min_size=1, max_size=5))


WANTED = st.one_of(st.none(), st.frozensets(st.sampled_from(("payeeId", "beneficiaryId", "global"))))


@given(st.lists(st.tuples(KEYS, KEYS), min_size=1, max_size=30), st.integers(1, 5), WANTED)
def test_every_wanted_anchor_of_a_transaction_is_in_its_shard_exactly_once(
    keys: list[tuple[str | None, str | None]], shards: int, wanted: frozenset[str] | None
) -> None:
    keys = [(p and p.replace("\0", "0"), b and b.replace("\0", "0")) for p, b in keys]
    rows = [(0, i, i, payment(i, payee, beneficiary)) for i, (payee, beneficiary) in enumerate(keys)]
    contents = of_kind(pack(shards, batch(rows), wanted=wanted), Kind.TRANSACTIONS)
    for shard, content in contents:
        assert len({row["offset"] for row in content}) == len(content)
        assert all(row["mask"] for row in content), shard
    places = {
        (row["offset"], bit): shard
        for shard, content in contents
        for row in content
        for bit in range(3)
        if row["mask"] >> bit & 1
    }
    expected = {
        (i, bit): int(shards_of(pa.array([value]), shards, (1, 2))[0])
        for i, (payee, beneficiary) in enumerate(keys)
        for bit, (anchor, value) in enumerate(
            {"payeeId": payee, "beneficiaryId": beneficiary, "global": "global"}.items()
        )
        if value is not None and (wanted is None or anchor in wanted)
    }
    assert places == expected
    # one shard reports each: that of its first anchor, or the first shard
    reporting = [
        (r["offset"], shard) for shard, content in contents for r in content if r["mask"] & int(REPORTS)
    ]
    homes = [
        min([(b, s) for (n, b), s in expected.items() if n == i] or [(0, 0)])[1] for i in range(len(keys))
    ]
    assert sorted(reporting) == list(enumerate(homes))


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 933211791), (1, -559580957), (42, 29417773), (2**31 - 1, spark_hash(2**31 - 1))],
)
def test_sparks_hash(value: int, expected: int) -> None:
    """Values from `select hash(0), hash(1), hash(42)`."""
    assert spark_hash(value) == expected


@pytest.mark.parametrize("shards", [1, 2, 3, 8, 64])
def test_every_shard_has_a_spark_partition_of_its_own(shards: int) -> None:
    assert [spark_hash(key) % shards for key in shard_keys(shards)] == list(range(shards))
