"""Errors of setting up the stack. Each message is one sentence that says what to do next."""


class DemoError(Exception):
    """Base of all: the command line prints its text and exits with 1."""


class JavaNotFound(DemoError):
    """No Java from 17 to 25 could be run."""


class JarsUnavailable(DemoError):
    """The jars could not be fetched, or are not the ones whose checksums are committed."""


class PostgresFailed(DemoError):
    """The embedded Postgres could not be made or did not answer."""


class KafkaFailed(DemoError):
    """The embedded Kafka could not be made or did not answer."""


class StackFailed(DemoError):
    """A process of the stack did not start, or the supervisor cannot be reached."""
