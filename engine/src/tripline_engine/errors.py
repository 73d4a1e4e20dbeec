"""Every error that the engine raises, named for what is wrong."""

# "CheckpointInUse" says it; "CheckpointInUseError" says it twice

from __future__ import annotations


class EngineError(Exception):
    """The engine can't go on; the message is one sentence for whoever runs it."""


class BadSettings(EngineError):
    """An environment variable, or a Spark setting, that the engine can't run with."""


class CheckpointMismatch(EngineError):
    """The checkpoint was made with other fixed settings: shards, anchors or event type."""


class CheckpointExists(EngineError):
    """There is a checkpoint where one was to be made."""


class CheckpointInUse(EngineError):
    """Another engine process holds this checkpoint."""


class CheckpointMoved(EngineError):
    """The checkpoint is not where it was when the engine started."""


class EngineRunning(EngineError):
    """The engine that is to be rebuilt still judges."""


class StateStoreFailed(EngineError):
    """Spark's state store refuses what it was asked for: the task fails and is tried again."""


class QueryFailed(EngineError):
    """The streaming query ended by itself."""


class KafkaSilent(EngineError):
    """Kafka doesn't answer, or not with what was asked for."""


class ArchiveInUse(EngineError):
    """Another archiver writes this archive."""


class ArchiveFailed(EngineError):
    """The archive's file system refuses."""


class ArchiveMismatch(EngineError):
    """The archive is of another topic of the same name: it has offsets that the topic has not."""


class RecordsMissing(EngineError):
    """Offsets that are neither in the archive nor in the topic; the message names them."""


class OrderBroken(EngineError):
    """The recorded order has a gap, or says something else than the topics and the archive."""


class NoHistory(EngineError):
    """A new engine would begin with windows that are empty, though they should not be."""


class Unparseable(Exception):
    """A record's value breaks the event type; the message names the field and what was expected."""
