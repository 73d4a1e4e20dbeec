"""What has been said is counted when its micro-batch is committed, not when its first shard is done."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from bench.engine import Place
from bench.waiting import until_committed


@dataclass
class Engine:
    """Commits one micro-batch more each time it is looked at, and has planned the next one by then."""

    spark: Path
    looks: list[int] = field(default_factory=list)

    def check(self) -> None:
        self.looks.append(len(self.looks))
        self.commit(len(self.looks))

    def commit(self, number: int) -> None:
        for folder, name in (("commits", number), ("offsets", number + 1)):
            (self.spark / folder).mkdir(parents=True, exist_ok=True)
            (self.spark / folder / str(name)).touch()


def place(folder: Path) -> Place:
    return Place(cast("Any", None), cast("Any", None), "", folder)


def test_until_what_is_planned_is_committed(tmp_path: Path) -> None:
    engine = Engine(tmp_path / "checkpoint" / "spark")
    engine.commit(0)
    (engine.spark / "offsets" / "3").touch()
    (engine.spark / "commits" / ".3.tmp").touch()
    until_committed(cast("Any", engine), place(tmp_path))
    assert engine.looks == [0, 1, 2]
    assert place(tmp_path).committed() == 3


def test_nothing_planned_is_nothing_to_wait_for(tmp_path: Path) -> None:
    engine = Engine(tmp_path / "checkpoint" / "spark")
    until_committed(cast("Any", engine), place(tmp_path))
    assert engine.looks == []
