"""Where the tests' engines keep the classes of their JVMs: the first one that ends in order writes them for all others.

Some thirty engines start in a run of all tests, and reading and checking Spark's classes is half of what each takes.
"""

from __future__ import annotations

from tripline_demo.embedded.jars import Jars


def setting(jars: Jars) -> dict[str, str]:
    """What an engine's environment says of it; beside the jars, whatever name they are reached by."""
    return {"TRIPLINE_CLASS_CACHE": str(jars.folder.resolve().with_name("classes"))}
