"""The AsyncAPI 3.0 document of the topics, written from the topic files.

`python -m tripline_contracts.asyncapi contracts/asyncapi.yaml` writes it; a test says so when it has drifted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import yaml

from tripline_contracts import cloudevents, topics
from tripline_contracts.topics import Topic

_SCHEMAS: Final = "./src/tripline_contracts/schemas"
_JSON_SCHEMA: Final = "application/schema+json;version=draft-2020-12"
_KAFKA_BINDING: Final = "0.5.0"
_LISTS: Final = ("cleanup.policy",)
_TEXTS: Final = ("message.timestamp.type", "compression.type")

Json = dict[str, object]


def document() -> Json:
    """The whole document."""
    every = topics.all_topics()
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Tripline",
            "version": "0.1.0",
            "description": "What goes over Kafka. CloudEvents 1.0 in binary mode: the attributes are headers, the "
            "value is the data alone. Names are camelCase, times integer ms since the epoch, decimals text.",
        },
        "defaultContentType": "application/json",
        "channels": {topic.name: _channel(topic) for topic in every},
        "operations": {name: operation for topic in every for name, operation in _operations(topic).items()},
        "components": {
            "messages": {event: _message(topic, event) for topic in every for event in topic.events},
            "messageTraits": {"cloudEvent": {"headers": _cloud_event_headers()}},
        },
    }


def text() -> str:
    """The document as committed."""
    head = (
        "# Written by `python -m tripline_contracts.asyncapi contracts/asyncapi.yaml` from the topic files.\n"
    )
    return head + yaml.safe_dump(document(), sort_keys=False, allow_unicode=True, width=110)


def _channel(topic: Topic) -> Json:
    return {
        "address": topic.name,
        "description": topic.purpose,
        "messages": {event: {"$ref": f"#/components/messages/{event}"} for event in topic.events},
        "bindings": {
            "kafka": {
                "topic": topic.name,
                "partitions": topic.partitions,
                "topicConfiguration": {name: _setting(name, value) for name, value in topic.config.items()},
                "bindingVersion": _KAFKA_BINDING,
            }
        },
    }


def _setting(name: str, value: str) -> object:
    if name in _LISTS:
        return value.split(",")
    return value if name in _TEXTS else int(value)


def _operations(topic: Topic) -> Json:
    channel = f"#/channels/{topic.name}"
    return {
        f"send to {topic.name}": {
            "action": "send",
            "channel": {"$ref": channel},
            "summary": f"By: {', '.join(topic.producers)}.",
        },
        f"receive from {topic.name}": {
            "action": "receive",
            "channel": {"$ref": channel},
            "summary": f"By: {', '.join(topic.consumers)}.",
        },
    }


def _message(topic: Topic, event: str) -> Json:
    schema = f"{_SCHEMAS}/{topic.schema}.json"
    message: Json = {
        "name": cloudevents.type_of(event),
        "title": event,
        "traits": [{"$ref": "#/components/messageTraits/cloudEvent"}],
        "bindings": {
            "kafka": {"key": {"type": "string", "description": topic.key}, "bindingVersion": _KAFKA_BINDING}
        },
    }
    if topic.value == "json":
        payload: Json = {"$ref": schema}
        headers = f"{_SCHEMAS}/{topic.schema}.headers.json"
    else:
        message["contentType"] = "application/octet-stream"
        payload = {"description": "raw bytes, as they came"}
        headers = f"{schema}#/properties/headers"
    if topic.headers:
        message["headers"] = {"schemaFormat": _JSON_SCHEMA, "schema": {"$ref": headers}}
    return {**message, "payload": {"schemaFormat": _JSON_SCHEMA, "schema": payload}}


def _cloud_event_headers() -> Json:
    names = [name for name, _ in cloudevents.headers("id", "type", "source", 0)]
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}}


def main(path: str) -> None:
    """Writes the document to that file."""
    Path(path).write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
