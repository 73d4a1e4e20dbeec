"""Where a shard keeps its named lists: chunks of changes in the state log, oldest first.

    lists/<name>/<number>    JSON: {"first": moment, "values": [...], "moments": [[nonce, accepted, changes], ...]}

The first chunk alone has `first` and `values`: the list at that moment. A change is a chunk of its own, and a chunk is
joined with those before it that are less than twice as large: so there are few, and of a list of a million values a
change of one writes no more than that one, most of the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tripline_engine.domain.rules.list_history import Chunk, ListHistory, Moment, Operation
from tripline_engine.domain.rules.named_values import NamedValues
from tripline_engine.domain.state_log.state_log import LISTS, StateLog
from tripline_engine.domain.transactions.hash_key import HashKey


class _Content(msgspec.Struct):
    first: int
    values: list[str]
    moments: list[tuple[int, dict[str, int], list[tuple[Operation, list[str]]]]]


def save_lists(named: NamedValues, log: StateLog, nonce: int, key: HashKey) -> None:
    """Put what is in no chunk yet into one; `nonce` is the micro-batch's."""
    for name, listed in named.lists.items():
        if listed.unsaved or not listed.chunks:
            _save(name, listed, log, nonce)
        listed.read(key)


def read_lists(
    stored: Mapping[str, Any], log: StateLog, key: HashKey, before: NamedValues | None = None
) -> dict[str, ListHistory]:
    """The lists of stored JSON. Of those in `before`, read earlier, only what has come since is read."""
    return {name: _read(name, where, log, key, before) for name, where in stored.items()}


def _save(name: str, listed: ListHistory, log: StateLog, nonce: int) -> None:
    content = _Content(
        listed.newest - len(listed.unsaved),
        list(listed.begin),
        [
            (nonce, dict(moment.accepted), [(operation, list(texts)) for operation, texts in moment.changes])
            for moment in listed.unsaved
        ],
    )
    chunks, number = list(listed.chunks), listed.chunks[-1].number + 1 if listed.chunks else 0
    data = msgspec.json.encode(content)
    while chunks and chunks[-1].size < 2 * len(data):
        older_key = _key(name, chunks.pop().number)
        older = _content(log.get(older_key))
        content = _Content(older.first, older.values, [*older.moments, *content.moments])
        if not chunks:
            content = _settled(content, listed.settled)
        log.remove(older_key)
        data = msgspec.json.encode(content)
    log.put(_key(name, number), data)
    listed.chunks = (*chunks, Chunk(number, len(data), nonce))
    listed.unsaved, listed.begin = [], ()


def _settled(content: _Content, settled: int) -> _Content:
    """The first chunk with its settled moments gone through."""
    count = settled - content.first
    if count <= 0:
        return content
    values = set(content.values)
    for _, _, changes in content.moments[:count]:
        for operation, texts in changes:
            if operation == "add":
                values.update(texts)
            elif operation == "remove":
                values.difference_update(texts)
            else:
                values = set(texts)
    return _Content(settled, sorted(values), content.moments[count:])


def _read(name: str, where: Any, log: StateLog, key: HashKey, before: NamedValues | None) -> ListHistory:
    if isinstance(where, list):
        return _of_older_book(*where)
    chunks = tuple(Chunk(*chunk) for chunk in where["chunks"])
    known = None if before is None else before.lists.get(name)
    # what a micro-batch has settled that was never committed, is to be read again
    if known is not None and known.nonce is not None and known.settled <= where["settled"]:
        later = _later(name, chunks, known.nonce, log)
        if later is not None:
            known.take_stored(later)
            return _ready(known, chunks, where["settled"], key)
    listed = ListHistory()
    contents = [_content(data) for data in log.get_all([_key(name, chunk.number) for chunk in chunks])]
    listed.begin_with(contents[0].values, contents[0].first)
    for content in contents:
        listed.take_stored(_moments(content))
    return _ready(listed, chunks, where["settled"], key)


def _ready(listed: ListHistory, chunks: tuple[Chunk, ...], settled: int, key: HashKey) -> ListHistory:
    listed.chunks = chunks
    listed.read(key)
    listed.settle(settled)
    return listed


def _later(name: str, chunks: Sequence[Chunk], nonce: int, log: StateLog) -> list[Moment] | None:
    """The stored moments after the one with that nonce; None if that is not there, or deep in the first chunk."""
    later: list[Moment] = []
    for chunk in reversed(chunks):
        if chunk.nonce == nonce:
            return later
        if chunk is chunks[0]:
            break
        moments = list(_moments(_content(log.get(_key(name, chunk.number)))))
        for i in range(len(moments) - 1, -1, -1):
            if moments[i].nonce == nonce:
                return moments[i + 1 :] + later
        later = moments + later
    return None


def _of_older_book(first: Sequence[str], changes: Iterable[tuple[dict[str, int], Any]]) -> ListHistory:
    """A list of a book from before there were chunks: its values at first, and by change what came and went."""
    listed = ListHistory(begin=list(first))
    listed.begin_with(first, 0)
    for accepted, (added, removed) in changes:
        listed.change(("add", added), accepted)
        listed.change(("remove", removed), accepted)
    return listed


def _moments(content: _Content) -> Iterable[Moment]:
    return (Moment(accepted, list(changes), nonce) for nonce, accepted, changes in content.moments)


def _content(data: bytes | None) -> _Content:
    assert data is not None  # the book names it
    return msgspec.json.decode(data, type=_Content)


def _key(name: str, number: int) -> str:
    return f"{LISTS}{name}/{number}"
