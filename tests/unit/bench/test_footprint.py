"""Whether the engine grows, from what was seen of it every ten seconds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.harness.footprint import FIGURES, Footprint, Footprints
from bench.harness.java_memory import JavaMemory

MIB = 1 << 20
FIRST = Footprint(
    0.0, 900 * MIB, 600 * MIB, JavaMemory(350 * MIB, 150 * MIB), 50.0 * MIB, 700.0 * MIB, 400, 0.0, 0.0
)


def footprints(**growth: float) -> Footprints:
    """Half an hour; what is named comes to so many times as much by the end of it."""
    footprints = Footprints()
    batches = seconds = 0.0
    for look in range(181):
        now = {name: 1 + (by - 1) * look / 180 for name, by in growth.items()}
        batches, seconds = batches + 100, seconds + 8.0 * now.get("seconds", 1.0)
        footprints.taken.append(
            replace(
                FIRST, at=10.0 * look, batches=batches, seconds=seconds,
                own=int(FIRST.own * now.get("own", 1.0)), java=int(FIRST.java * now.get("java", 1.0)),
                arrays=FIRST.arrays * now.get("arrays", 1.0),
                descriptors=round(FIRST.descriptors * now.get("descriptors", 1.0)),
            )
        )  # fmt: skip
    return footprints


def test_what_stays_as_it_is_is_within_its_bars() -> None:
    rows = footprints().rows()
    assert all(row.ok for row in rows)
    assert [row.value for row in rows] == pytest.approx(
        [900, 0, 600, 0, 350, 0, 50, 0, 150, 0, 700, 0, 400, 0, 80, 0], abs=1e-6
    )


@pytest.mark.parametrize("name", ["own", "arrays", "descriptors", "seconds"])
def test_what_grows_by_a_fifth_misses_its_bar(name: str) -> None:
    missed = [row for row in footprints(**{name: 1.2}).rows() if not row.ok]
    assert len(missed) == 1
    assert missed[0].value == pytest.approx(18, abs=1)


def test_the_jvm_is_told_by_itself() -> None:
    rows = footprints(java=1.2).rows()
    assert all(row.ok for row in rows)
    assert rows[3].value == pytest.approx(18, abs=1)


def test_one_stall_is_no_growth() -> None:
    series = footprints()
    series.taken[90:] = [
        replace(footprint, seconds=footprint.seconds + 30) for footprint in series.taken[90:]
    ]
    assert all(row.ok for row in series.rows())


def test_two_looks_say_nothing() -> None:
    footprints = Footprints()
    footprints.taken = [FIRST, FIRST]
    with pytest.raises(ValueError, match="2 looks"):
        footprints.rows()


def test_every_figure_has_a_name_of_its_own() -> None:
    assert len({figure.name for figure in FIGURES}) == len(FIGURES) == 8
