"""Large segments as files: what names them commits or does not, micro-batches are repeated, old files go."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.unit.engine.support.shard_harness import DictLog
from tripline_engine.errors import StateStoreFailed
from tripline_engine.spark.state.blob_index import NAMES, names_in
from tripline_engine.spark.state.blob_log import (
    GONE,
    KEPT_BATCHES,
    BlobLog,
    remove_unfinished_blobs,
    shard_folder,
)

LARGE = 10
KEY = "segment/payee/7"
KEYS = [f"{folder}/{number}" for folder in ("segment/a", "buckets/a/1") for number in (0, 1, 63, 64, 130)]


@dataclass
class Shard:
    """A shard whose micro-batches commit, or do not and are repeated."""

    folder: Path
    store: DictLog = field(default_factory=DictLog)
    batch: int = 0

    def begin(self) -> BlobLog:
        self.store.abort()
        return BlobLog(self.store, self.folder, self.batch, LARGE)

    def commit(self, log: BlobLog) -> None:
        log.finish()
        self.store.commit()
        self.batch += 1

    def put(self, key: str, data: bytes) -> None:
        log = self.begin()
        log.put(key, data)
        self.commit(log)

    def files(self) -> list[str]:
        return sorted(path.name for path in self.folder.rglob("*") if path.is_file())


def _named(shard: Shard) -> list[str]:
    """The files that the store names."""
    return [name for key, data in shard.store.committed.items() for name in names_in(key, data)]


def _with_stubs(store: DictLog) -> None:
    """Name each file in an entry of its own, as older checkpoints have it."""
    named = [
        (name.rsplit(".", 2)[0], name)
        for key, data in store.committed.items()
        for name in names_in(key, data)
    ]
    others = {key: data for key, data in store.committed.items() if not key.startswith(NAMES)}
    store.committed = {**others, **{key: f"file {name}".encode() for key, name in named}}


@pytest.fixture
def shard(tmp_path: Path) -> Shard:
    return Shard(shard_folder(tmp_path, 0))


@pytest.mark.parametrize("large", [KEY, "buckets/payee/3/7"])
def test_what_is_large_is_a_file_and_all_else_is_in_the_store(large: str, shard: Shard) -> None:
    log = shard.begin()
    data = {large: b"x" * LARGE, "segment/payee/8": b"y" * (LARGE - 1), "rules": b"z" * 1_000}
    for key, blob in data.items():
        log.put(key, blob)
    shard.commit(log)
    assert log.get_all([*data, "none"]) == [*data.values(), None]
    assert shard.begin().get_all([*data, "none"]) == [*data.values(), None]
    assert len(shard.files()) == 1
    assert {key: blob for key, blob in shard.store.committed.items() if not key.startswith(NAMES)} == {
        key: blob for key, blob in data.items() if key != large
    }
    [name] = _named(shard)
    assert (shard.folder / name).read_bytes() == data[large]
    assert shard.store.bytes < 1_000 + LARGE + 60


def test_what_was_written_in_a_micro_batch_that_failed_is_not_seen_and_its_repetition_takes_its_place(
    shard: Shard,
) -> None:
    shard.put(KEY, b"before" * LARGE)
    failed = shard.begin()
    assert failed.get(KEY) == b"before" * LARGE
    failed.put(KEY, b"after" * LARGE)
    failed.put("segment/payee/8", b"new" * LARGE)
    failed.finish()
    again = shard.begin()
    assert again.get_all([KEY, "segment/payee/8"]) == [b"before" * LARGE, None]
    again.put(KEY, b"after" * LARGE)
    again.put("segment/payee/8", b"new" * LARGE)
    shard.commit(again)
    assert shard.begin().get_all([KEY, "segment/payee/8"]) == [b"after" * LARGE, b"new" * LARGE]
    assert len(shard.files()) == 3


@pytest.mark.parametrize("read", [False, True])
def test_a_removed_file_stays_for_as_long_as_a_version_of_the_store_may_name_it(
    shard: Shard, read: bool
) -> None:
    shard.put(KEY, b"old" * LARGE)
    log = shard.begin()
    if read:
        log.get(KEY)
    log.remove(KEY)
    assert log.get(KEY) is None
    shard.commit(log)
    removed_by, other = shard.batch - 1, "segment/payee/9"
    shard.put(other, b"one" * LARGE)
    while shard.batch <= removed_by + KEPT_BATCHES:
        assert shard.files()[0].startswith("7.")
        log = shard.begin()
        log.get(other)
        log.put(other, b"%d" % shard.batch * LARGE)
        shard.commit(log)
    assert not shard.files()[0].startswith("7.")
    # those that took the place of one another are kept as long
    assert len(shard.files()) == KEPT_BATCHES
    assert shard.begin().get(other) is not None


def test_where_no_other_file_goes_the_last_ones_do_all_the_same(shard: Shard) -> None:
    shard.put(KEY, b"old" * LARGE)
    log = shard.begin()
    log.remove(KEY)
    shard.commit(log)
    while shard.batch <= KEPT_BATCHES:
        shard.commit(shard.begin())
    assert len(shard.files()) == 1
    while shard.batch <= KEPT_BATCHES + KEPT_BATCHES // 5:
        shard.commit(shard.begin())
    assert shard.files() == []


def test_what_is_put_twice_in_a_micro_batch_and_as_it_was_at_first_is_kept(shard: Shard) -> None:
    log = shard.begin()
    for data in (b"a" * LARGE, b"b" * LARGE, b"a" * LARGE):
        log.put(KEY, data)
    shard.commit(log)
    [kept] = _named(shard)
    assert kept.startswith(f"{KEY}.0.")
    [(_, gone)] = json.loads(zlib.decompress(shard.store.committed[GONE]))
    assert gone != kept
    assert gone.startswith(f"{KEY}.0.")


def test_small_ones_may_take_the_place_of_large_ones(shard: Shard) -> None:
    shard.put(KEY, b"x" * LARGE)
    log = shard.begin()
    log.get(KEY)
    log.put(KEY, b"s")
    shard.commit(log)
    assert shard.store.committed.keys() == {KEY, GONE}
    assert shard.begin().get(KEY) == b"s"


def test_large_ones_take_the_place_of_small_ones_that_go(shard: Shard) -> None:
    shard.put(KEY, b"s")
    log = shard.begin()
    log.get(KEY)
    log.put(KEY, b"x" * LARGE)
    shard.commit(log)
    assert KEY not in shard.store.committed
    assert shard.begin().get(KEY) == b"x" * LARGE
    log = shard.begin()
    log.remove(KEY)
    shard.commit(log)
    assert shard.store.committed.keys() == {GONE}


def test_to_read_many_asks_the_store_for_few(shard: Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [f"{folder}/{number}" for folder in ("segment/payee", "buckets/payee/3") for number in range(200)]
    for key in keys:
        shard.put(key, key.encode() * LARGE)
    asked: list[str] = []
    log, get_all = shard.begin(), shard.store.get_all

    def noted(some: Sequence[str]) -> list[bytes | None]:
        asked.extend(some)
        return get_all(some)

    monkeypatch.setattr(shard.store, "get_all", noted)
    assert [log.get(key) for key in keys] == [key.encode() * LARGE for key in keys]
    assert len(asked) == 2 * 4


def test_what_is_new_and_small_is_written_without_a_question(
    shard: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = shard.begin()
    monkeypatch.setattr(shard.store, "get_all", None)
    log.put(KEY, b"s")
    log.finish()
    assert shard.store.get(KEY) == b"s"


@pytest.mark.parametrize("small", [False, True])
def test_stubs_of_older_checkpoints_are_read_and_go_with_what_they_name(shard: Shard, small: bool) -> None:
    keys = [KEY, "segment/payee/8", "buckets/payee/3/7"]
    for key in keys:
        shard.put(key, key.encode() * LARGE)
    names = {name.rsplit(".", 2)[0]: name for name in _named(shard)}
    _with_stubs(shard.store)
    assert shard.store.committed.keys() == set(keys)
    log = shard.begin()
    assert log.get_all(keys) == [key.encode() * LARGE for key in keys]
    assert [names_in(key, shard.store.committed[key]) for key in keys] == [[names[key]] for key in keys]
    after = b"s" if small else b"x" * LARGE
    log.put(KEY, after)
    log.remove(keys[1])
    shard.commit(log)
    log = shard.begin()
    log.remove(keys[2])
    shard.commit(log)
    assert shard.begin().get_all(keys) == [after, None, None]
    assert not shard.store.committed.keys() - {KEY if small else "files/segment/payee/0", GONE}
    gone = json.loads(zlib.decompress(shard.store.committed[GONE]))
    assert sorted(name for _, name in gone) == sorted(names.values())


def test_a_file_that_is_gone_or_another_one_is_an_error_that_names_it(shard: Shard) -> None:
    shard.put(KEY, b"x" * LARGE)
    [path] = [path for path in shard.folder.rglob("*") if path.is_file()]
    path.write_bytes(b"x" * (LARGE - 1))
    with pytest.raises(StateStoreFailed, match=f"{path.name} is not what was written there.*rebuild"):
        shard.begin().get(KEY)
    path.unlink()
    with pytest.raises(StateStoreFailed, match=f"{path.name} is gone.*rebuild"):
        shard.begin().get(KEY)


def test_what_a_killed_process_had_begun_to_write_is_removed(shard: Shard, tmp_path: Path) -> None:
    shard.put(KEY, b"x" * LARGE)
    [name] = shard.files()
    (shard.folder / "segment/payee" / f"{name}.12ab.unfinished").write_bytes(b"x")
    remove_unfinished_blobs(tmp_path)
    assert shard.files() == [name]
    remove_unfinished_blobs(tmp_path / "none")


def test_random_lives(tmp_path: Path) -> None:
    """Against a plain map: micro-batches fail at random, any version of the last hundred is whole."""
    for seed in range(8):
        rng, shard = random.Random(seed), Shard(tmp_path / str(seed))
        model: dict[str, bytes] = {}
        versions: list[tuple[dict[str, bytes], dict[str, bytes]]] = []
        for life in range(250):
            if life == 120 and seed % 2:
                _with_stubs(shard.store)
            log, tried = shard.begin(), dict(model)
            for _ in range(rng.randrange(4)):
                key = rng.choice(KEYS)
                if rng.random() < 0.3:
                    gone = [key, rng.choice(KEYS), "other"][: rng.randrange(1, 4)]
                    log.remove_all(gone)
                    tried = {key: data for key, data in tried.items() if key not in gone}
                    continue
                if key in model or rng.random() < 0.5:
                    some = [key, *rng.sample(KEYS, 3)]
                    assert log.get_all(some) == [tried.get(key) for key in some]
                tried[key] = rng.randbytes(rng.choice([3, LARGE, 40]))
                log.put(key, tried[key])
            if rng.random() < 0.2:
                log.finish()
                continue
            shard.commit(log)
            model = tried
            large = {key for key, data in model.items() if len(data) >= LARGE}
            assert {name.rsplit(".", 2)[0] for name in _named(shard)} == large
            others = {key for key in shard.store.committed if not key.startswith(NAMES)} - {GONE}
            assert others - large == model.keys() - large
            assert all(shard.store.committed[key].startswith(b"file ") for key in others & large)
            versions.append((dict(shard.store.committed), model))
        for committed, known in versions[-KEPT_BATCHES:]:
            past = DictLog()
            past.committed = committed
            past.abort()
            reopened = BlobLog(past, shard.folder, 10_000, LARGE)
            assert reopened.get_all(KEYS) == [known.get(key) for key in KEYS]
