"""Which Python .venv is made from: imported by bootstrap.py, so the standard library only.

pyenv, and who builds from source by hand, leave out the compiler's optimisations unless told otherwise; all that is
Python then takes a quarter more time (docs/decisions/0050-python-interpreter.md). A distribution's own Python has them.
"""

import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

MACHINE = Path(__file__).with_name("machine.py")
OF_THE_SYSTEM = ("/usr/bin/python3", *(f"/usr/bin/python3.{minor}" for minor in (14, 13, 12, 11)))


def optimised() -> bool:
    """Whether the Python that runs this was built with optimisations; those of distributions do not say, and are."""
    told = str(sysconfig.get_config_var("CONFIG_ARGS"))
    return sys.base_prefix == "/usr" or "--enable-optimizations" in told


def fits(python: str) -> bool:
    """Whether this Python is there, and nothing is in Tripline's way with it."""
    try:
        return subprocess.run([python, str(MACHINE)], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def preferred(others: Sequence[str] = OF_THE_SYSTEM) -> str:
    """The Python that runs this, unless it was built without optimisations and the system has one that fits."""
    if optimised():
        return sys.executable
    return next((python for python in others if fits(python)), sys.executable)
