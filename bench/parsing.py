"""`python -m bench.parsing`: processor time to read records into columns, beside libraries that read JSON.

The libraries do less than is needed: msgspec stops at one object per record, pyarrow.json takes a slice whole or not at
all, and checks neither limits nor required fields.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Final

import click
import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.json

from bench.workload.workload import make, values
from tripline_contracts.event_type_loader import load
from tripline_engine.domain.transactions.parser import Parser

_SIZES: Final = (1, 40, 400, 50_000)
_SCHEMA: Final = pa.schema(
    [
        ("transactionId", pa.string()),
        ("eventTime", pa.int64()),
        ("payeeId", pa.int64()),
        ("beneficiaryId", pa.int64()),
        ("paymentAmount", pa.decimal128(24, 6)),
        ("paymentType", pa.string()),
        ("ingestionTimestamp", pa.int64()),
    ]
)


class _Payment(msgspec.Struct, gc=False):
    transactionId: str  # noqa: N815  # as the records have it
    eventTime: int  # noqa: N815
    paymentAmount: str  # noqa: N815
    paymentType: str  # noqa: N815
    payeeId: int | None = None  # noqa: N815
    beneficiaryId: int | None = None  # noqa: N815
    ingestionTimestamp: int | None = None  # noqa: N815


@click.command()
@click.option("--records", type=click.IntRange(1_000), default=200_000, show_default=True, help="Per figure.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def main(*, records: int, seed: int) -> None:
    """Measures slices of several sizes; of each the fastest of many readings."""
    sent = [
        value for _, value in values(make(2_000, max(_SIZES), 0, seed), 0, max(_SIZES), range(max(_SIZES)))
    ]
    parser, decode = Parser(load("transaction")), msgspec.json.Decoder(_Payment).decode
    print("µs per record:    this reader | msgspec, objects only | pyarrow.json, unchecked")
    for size in _SIZES:
        part, times = sent[:size], max(3, records // size)
        array = pa.array(part, pa.binary())
        ours = _best(partial(parser.parse, array), times)
        objects = _best(partial(lambda values: [decode(value) for value in values], part), times)
        arrow = _best(partial(_arrow, part), times)
        figures = (f"{seconds / size * 1e6:10.2f}" for seconds in (ours, objects, arrow))
        print(f"  slices of {size:6} {' | '.join(figures)}   ratios {ours / objects:.2f}, {ours / arrow:.2f}")
    by_turns = pa.array([_turned(value) if i % 2 else value for i, value in enumerate(sent)], pa.binary())
    seconds = _best(partial(parser.parse, by_turns), max(3, records // len(sent)))
    print(f"  the same, members in two orders by turns: {seconds / len(sent) * 1e6:.2f}")


def _turned(value: bytes) -> bytes:
    """As another program may have written the record."""
    return json.dumps(dict(reversed(json.loads(value).items())), separators=(",", ":")).encode()


def _arrow(part: list[bytes]) -> pa.Table:
    data = b"\n".join(part)
    return pyarrow.json.read_json(
        pa.BufferReader(data),
        read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
        parse_options=pyarrow.json.ParseOptions(explicit_schema=_SCHEMA, unexpected_field_behavior="ignore"),
    )


def _best(work: Callable[[], object], times: int) -> float:
    seconds = []
    for _ in range(times):
        begin = time.process_time()
        work()
        seconds.append(time.process_time() - begin)
    return float(np.min(seconds))


if __name__ == "__main__":
    main()
