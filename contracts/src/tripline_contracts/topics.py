"""The Kafka topics, as data: what each is for, who writes and reads it, and how it is created."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Literal

import yaml

from tripline_contracts.errors import InvalidTopic, UnknownTopic

Clock = Literal["wall", "data"]

PROTECTIVE = (
    "compression.type",
    "message.timestamp.type",
    "message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms",
    "segment.ms",
)
"""Settings that keep forged and oversized records out, so that topics of an earlier release get them too.

A broker that stores records uncompressed measures their real size against `max.message.bytes`: a few kilobytes that
unfold to hundreds of megabytes in every reader are refused. A topic with the broker's own time takes nobody else's;
where records have their own, one that no reader can hold is refused, and those that jump from week to week make no
file each.
"""

_TEXTS = ("name", "purpose", "key", "value", "schema")
_LISTS = ("producers", "consumers", "events")
_KNOWN = {*_TEXTS, *_LISTS, "partitions", "config", "configForOldData", "headers"}


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic. `key` says what the record key is, `events` the names that `cloudevents.type_of` takes.

    `schema` names the JSON Schema of the value; where the value is raw bytes, of
    `{"headers": {name: text}, "valueBase64": text}`. `headers` are those besides the CloudEvents attributes; beside a
    value in JSON their schema is `<schema>.headers`.
    """

    name: str
    purpose: str
    producers: tuple[str, ...]
    consumers: tuple[str, ...]
    partitions: int
    key: str
    value: Literal["json", "bytes"]
    schema: str
    events: tuple[str, ...]
    headers: tuple[str, ...]
    config: Mapping[str, str] = field(hash=False)
    config_for_old_data: Mapping[str, str] = field(hash=False)

    def creation_config(self, clock: Clock = "wall") -> dict[str, str]:
        """The topic's configuration at creation, every value as Kafka wants it: text.

        With the clock "data" record times are as old as the data, and retention, which goes by record time,
        would delete them within minutes; so what is kept for days is kept for ever then.
        """
        return {**self.config, **(self.config_for_old_data if clock == "data" else {})}


def load(name: str) -> Topic:
    """The topic of that name; UnknownTopic if there is none."""
    for topic in all_topics():
        if topic.name == name:
            return topic
    raise UnknownTopic(f"no topic {name!r}; there are {', '.join(topic.name for topic in all_topics())}")


@functools.cache
def all_topics() -> tuple[Topic, ...]:
    """Every topic, sorted by name."""
    folder = resources.files("tripline_contracts") / "topics"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".yaml")), key=lambda f: f.name)
    return tuple(from_mapping(yaml.safe_load(f.read_text(encoding="utf-8"))) for f in files)


def from_mapping(data: object) -> Topic:
    """A topic from its parsed YAML; InvalidTopic says what is wrong with it."""
    if not isinstance(data, Mapping):
        raise InvalidTopic("expected a mapping")
    what = str(data.get("name"))
    unknown = sorted(set(data) - _KNOWN)
    if unknown:
        raise InvalidTopic(f"{what}: unknown {', '.join(map(str, unknown))}")
    texts = {name: _text(data, name, what) for name in _TEXTS}
    value, partitions = texts["value"], data.get("partitions")
    if value not in ("json", "bytes"):
        raise InvalidTopic(f"{what}: a value is json or bytes")
    if not isinstance(partitions, int) or partitions < 1:
        raise InvalidTopic(f"{what}: expected partitions of at least 1")
    return Topic(
        name=texts["name"],
        purpose=texts["purpose"],
        producers=_list(data, "producers", what),
        consumers=_list(data, "consumers", what),
        partitions=partitions,
        key=texts["key"],
        value="json" if value == "json" else "bytes",
        schema=texts["schema"],
        events=_list(data, "events", what),
        headers=_list(data, "headers", what) if "headers" in data else (),
        config=_config(data, "config", what),
        config_for_old_data=_config(data, "configForOldData", what) if "configForOldData" in data else {},
    )


def _text(data: Mapping[str, object], name: str, what: str) -> str:
    value = data.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidTopic(f"{what}: {name} is missing")
    return value.strip()


def _list(data: Mapping[str, object], name: str, what: str) -> tuple[str, ...]:
    value = data.get(name)
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise InvalidTopic(f"{what}: {name} is a list of names, not empty")
    return tuple(value)


def _config(data: Mapping[str, object], name: str, what: str) -> dict[str, str]:
    value = data.get(name)
    if not isinstance(value, Mapping) or not all(isinstance(v, str) for v in value.values()):
        raise InvalidTopic(f"{what}: {name} maps settings to text")
    return {str(key): str(setting) for key, setting in value.items()}
