"""The first bytes of files, as a browser sends them: cut anywhere, packed or not, and whatever they are."""

from __future__ import annotations

import gzip
import io
import json
import random
import time

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tripline_contracts import event_type_loader
from tripline_contracts.errors import InvalidMapping, UnreadableFile
from tripline_contracts.recordings.mapping_reader import read_mapping
from tripline_contracts.recordings.proposals.file_head import MAX_BYTES, head_of_bytes, head_of_file
from tripline_contracts.recordings.proposals.preview import READ, SHOWN, preview
from tripline_contracts.recordings.proposals.proposal_text import proposed, text_of

TRANSACTION = event_type_loader.load()
HEADER = "transactionId,eventTime,payeeId,beneficiaryId,paymentType,paymentAmount\n"
LINES = [f"t{n},{1_622_548_800_000 + n},{n % 7},b,CRD,{n}.5\n" for n in range(20_000)]
FILE = (HEADER + "".join(LINES)).encode()
JSON = [
    {"transactionId": f"t{n}", "eventTime": 1_622_548_800_000 + n, "paymentType": "CRD", "paymentAmount": n}
    for n in range(5_000)
]


def read(data: bytes, *, is_whole: bool = False) -> tuple[int, int]:
    """Of the first rows, how many are read with what is proposed, and how many are not."""
    head = head_of_bytes(data, is_whole=is_whole)
    mapping = read_mapping(text_of(proposed(head, TRANSACTION)), TRANSACTION)
    first = preview(head, TRANSACTION, mapping)
    return first.read, first.bad


@pytest.mark.parametrize("length", [*range(180, 240), 5_000, MAX_BYTES])
def test_a_line_that_is_cut_is_none(length: int) -> None:
    lines = FILE[:length].count(b"\n") - 1
    assert read(FILE[:length]) == (min(lines, READ), 0)


@pytest.mark.parametrize("packed", [gzip.compress(FILE), zstandard.compress(FILE)], ids=["gzip", "zstd"])
def test_a_packed_file_may_be_cut_anywhere(packed: bytes) -> None:
    assert len(packed) < MAX_BYTES
    assert read(packed, is_whole=True) == (READ, 0)
    assert read(packed[: len(packed) // 2]) == (READ, 0)


def test_a_packed_file_that_is_damaged_says_so() -> None:
    whole = gzip.compress(FILE[:5_000])
    head = head_of_bytes(whole[:-20], is_whole=True)
    first = preview(head, TRANSACTION, None)
    assert "cut off or damaged" in first.refused[-1].reason
    assert first.read == len(first.rows) + first.read - SHOWN > SHOWN


@pytest.mark.parametrize("length", range(400, 600, 7))
def test_json_that_is_cut_costs_its_last_element(length: int) -> None:
    array = json.dumps(JSON)[:length].encode()
    assert read(array) == (array.count(b"},"), 0)
    lines = "\n".join(map(json.dumps, JSON))[:length].encode()
    assert read(lines) == (lines.count(b"\n"), 0)


def test_a_quote_that_is_cut_is_none_of_the_file_s_faults() -> None:
    data = f'{HEADER}a,1622548800000,"a\nb",b,CRD,5\nb,1622548800000,"c\nd'.encode()
    head = head_of_bytes(data, is_whole=False)
    assert (preview(head, TRANSACTION, None).read, preview(head, TRANSACTION, None).bad) == (1, 0)
    whole = head_of_bytes(data, is_whole=True)
    assert preview(whole, TRANSACTION, None).bad == 2


def test_what_is_shown_is_what_the_topic_would_have() -> None:
    head = head_of_bytes(
        f"{HEADER}a,1622548800000,,b,CRD,5.50\n,1622548800000,,b,CRD,5\n".encode(), is_whole=True
    )
    first = preview(head, TRANSACTION, None)
    assert [dict(row.values) for row in first.rows] == [
        {
            "transactionId": "a", "eventTime": 1_622_548_800_000, "payeeId": None, "beneficiaryId": "b",
            "paymentAmount": "5.5", "paymentType": "CRD", "ingestionTimestamp": None,
        }
    ]  # fmt: skip
    assert [(bad.line, bad.reason) for bad in first.refused] == [(3, "transactionId: required")]
    assert first.ends


@pytest.mark.parametrize(
    "packed",
    [
        zstandard.compress(b"a,b\n" * 2**26, 19),
        gzip.compress(b"a" * 2**26),
        gzip.compress(zstandard.compress(FILE)),
    ],
    ids=["many lines", "one line", "packed twice"],
)
def test_a_bomb_is_looked_at_for_a_megabyte_at_most(packed: bytes) -> None:
    begun = time.process_time()
    try:
        assert len(head_of_file(io.BytesIO(packed)).content) <= 2**20
    except UnreadableFile as error:
        assert "no line ends" in str(error) or "packed twice" in str(error)  # noqa: PT017
    assert time.process_time() - begun < 2


def test_a_window_of_zstd_that_takes_much_memory_is_refused() -> None:
    wide = zstandard.ZstdCompressor(
        compression_params=zstandard.ZstdCompressionParameters(window_log=27, enable_ldm=True)
    ).compressobj()
    data = wide.compress(random.Random(7).randbytes(2**24)) + wide.flush()
    with pytest.raises(UnreadableFile, match="damaged"):
        head_of_bytes(data[:MAX_BYTES], is_whole=True)


CELL = st.one_of(
    st.sampled_from(
        ["", "2021-06-01", "1,5", "1.234,56", '"', "06/01/2021", "CRD", "crd", "0", "\x00", "{", "="]
    ),
    st.text(max_size=8),
)
ROWS = st.lists(st.lists(CELL, min_size=1, max_size=6), max_size=6)


def survives(data: bytes, *, is_whole: bool) -> None:
    """Whatever it is, the outcome is a proposal or a sentence; and its text a mapping, or what is open in it."""
    try:
        head = head_of_bytes(data, is_whole=is_whole)
        proposal = proposed(head, TRANSACTION)
    except UnreadableFile:
        return
    try:
        mapping = read_mapping(text_of(proposal), TRANSACTION)
        preview(head, TRANSACTION, mapping)
        is_refused = False
    except InvalidMapping:
        is_refused = True
    is_open = any(one.sure == "open" for one in proposal.fields)
    assert is_refused == (is_open or proposal.needs_zone or len(proposal.numbers.styles) > 1)


@given(st.binary(max_size=300), st.booleans())
def test_any_bytes(data: bytes, is_whole: bool) -> None:
    survives(data, is_whole=is_whole)


@given(st.text(max_size=3), st.text(max_size=8), ROWS, st.sampled_from(",;\t|"), st.booleans())
def test_any_table(before: str, name: str, rows: list[list[str]], delimiter: str, is_whole: bool) -> None:
    header = ["id", f"{before}{name}", name, "amount", "type", "payer"]
    text = "".join(delimiter.join(row) + "\n" for row in [header, *rows])
    survives(text.encode(), is_whole=is_whole)


@pytest.mark.parametrize(
    "name", ["a\x00", "\x7f", "\x85b", "\u2028c", "\ufeffx", "a: b", "{", "# x", '"', "\U000e0001"]
)
def test_any_name_is_quoted(name: str) -> None:
    row = {"id": name, "time": 1_622_548_800, "amount": 5, "type": name, name: name}
    head = head_of_bytes(json.dumps([row]).encode(), is_whole=True)
    text = text_of(proposed(head, TRANSACTION))
    assert "# Not read: " in text
    mapping = read_mapping(text.replace(": \n", ": CRD\n").replace('":\n', '": CRD\n'), TRANSACTION)
    assert mapping.fields["paymentType"].values == {name: "CRD"}


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    ),
    st.integers(0, 200),
)
def test_any_json(value: object, length: int) -> None:
    data = json.dumps([value, {"id": 1, "time": value, "amount": value, "type": value}]).encode()
    survives(data, is_whole=True)
    survives(data[:length], is_whole=False)
