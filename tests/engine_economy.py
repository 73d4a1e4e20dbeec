"""What makes the tests' engines cost less of a machine that they share with each other.

Some thirty start in a run of all tests, and reading and checking Spark's classes is half of what each start takes: the
first one that ends in order writes them for all others. Then most of them wait for what a test does next, and each
question whether there is anything new costs Kafka as much as them.
"""

from __future__ import annotations

from tripline_demo.embedded.jars import Jars

_POLL_MS = "250"


def settings(jars: Jars) -> dict[str, str]:
    """Of an engine's environment; the classes are beside the jars, whatever name these are reached by."""
    return {
        "TRIPLINE_CLASS_CACHE": str(jars.folder.resolve().with_name("classes")),
        "TRIPLINE_POLL_MS": _POLL_MS,
    }
