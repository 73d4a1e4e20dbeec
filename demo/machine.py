"""Whether Tripline can run on this machine: run before anything is made, and imported by bootstrap.py.

Written so that any Python 3 from 3.6 on can read it: an old one is to be refused with a sentence too.
"""

import importlib.util
import platform
import sys

OLDEST, NEWEST = (3, 11), (3, 14)
PROCESSORS = ("x86_64", "aarch64")


def obstacle() -> str:
    """Why not, as a sentence that says what to do; empty when nothing is in the way."""
    if platform.system() != "Linux" or platform.machine() not in PROCESSORS:
        return (
            f"it supports Linux on x86_64 and aarch64, and this is {platform.system()} on {platform.machine()}. "
            "A Linux virtual machine (on Windows: WSL 2) will do."
        )
    if platform.libc_ver()[0] != "glibc":
        return "it needs a Linux with glibc (Debian, Ubuntu, Fedora and the like), and this one has another C library."
    if not OLDEST <= tuple(sys.version_info[:2]) <= NEWEST:
        return (
            f"it needs Python 3.11 to 3.14, and this python3 is {platform.python_version()}. "
            "If there is another one, name it: make env PYTHON=python3.11"
        )
    if importlib.util.find_spec("ensurepip") is None:
        return "this python3 came without venv. On Debian and Ubuntu: apt install python3-venv"
    return ""


def check() -> None:
    """Ends the process with one sentence when there is an obstacle."""
    reason = obstacle()
    if reason:
        sys.exit("Tripline cannot run here: " + reason)


if __name__ == "__main__":
    check()
