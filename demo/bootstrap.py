"""Makes .venv from the lock: run by `make env` with the machine's own python3, so the standard library only.

Every file is checked against a hash of requirements.lock before it is used: the installer's, and those of the tools
that build pyspark and Tripline's own packages, included. Nothing is installed outside of the checkout.
"""

import argparse
import hashlib
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

OLDEST, NEWEST = (3, 11), (3, 14)
MACHINES = ("x86_64", "aarch64")
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"


def main() -> None:
    """Checks the machine, makes the environment, writes the stamp."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stamp", type=Path)
    parser.add_argument("packages", nargs="+", type=Path)
    chosen = parser.parse_args()
    check_machine()
    packages = [package for package in chosen.packages if (package / "pyproject.toml").exists()]
    wanted = fingerprint(packages)
    if not (working() and chosen.stamp.exists() and chosen.stamp.read_text() == wanted):
        install(packages)
        chosen.stamp.write_text(wanted)
    chosen.stamp.touch()


def check_machine() -> None:
    """Ends with one sentence where the packages that Tripline stands on do not exist."""
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        refuse(
            f"it needs Python 3.11 to 3.14, and this python3 is {platform.python_version()}. "
            "If there is another one, name it: make env PYTHON=python3.11"
        )
    if platform.system() != "Linux" or platform.machine() not in MACHINES:
        refuse(
            "it supports Linux on x86_64 and aarch64, and this is "
            f"{platform.system()} on {platform.machine()}. A Linux virtual machine (or WSL 2) will do."
        )
    if platform.libc_ver()[0] != "glibc":
        refuse(
            "it needs a Linux with glibc (Debian, Ubuntu, Fedora and the like), and this one has another C library."
        )


def refuse(reason: str) -> None:
    """Ends with a sentence instead of a traceback."""
    sys.exit(f"Tripline cannot run here: {reason}")


def working() -> bool:
    """Whether .venv has a Python that runs; its base may have been removed or replaced."""
    python = VENV / "bin" / "python"
    command = [str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return False
    return OLDEST <= tuple(int(part) for part in found.split(".") if part.isdecimal()) <= NEWEST


def fingerprint(packages: list[Path]) -> str:
    """What the environment is made of; the stamp holds it."""
    files = [LOCK, Path(__file__), *(package / "pyproject.toml" for package in packages)]
    return "\n".join(hashlib.sha256(file.read_bytes()).hexdigest() for file in files)


def install(packages: list[Path]) -> None:
    """uv by pip, everything else by uv, then Tripline's own packages as links to their sources."""
    if not working():
        step("a Python environment in .venv", [sys.executable, "-m", "venv", "--clear", str(VENV)])
    python = str(VENV / "bin" / "python")
    uv = [str(VENV / "bin" / "uv"), "pip", "install", "-q", "--python", python]
    with tempfile.TemporaryDirectory() as folder:
        installer = part_of_lock(Path(folder) / "installer.txt", lambda name: name == "uv")
        wheels = part_of_lock(Path(folder) / "wheels.txt", lambda name: name != "pyspark")
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--require-hashes", "-r"]
        step("the installer", [*pip, str(installer)])
        # Without their dependencies: the lock names them all, and none may come from elsewhere.
        step(
            "packages of requirements.lock",
            [*uv, "--require-hashes", "--no-deps", "--no-build", "-r", str(wheels)],
        )
    # pyspark has no wheel; it is built with the tools that were just installed, so those were checked too.
    step(
        "pyspark (450 MB, once)",
        [*uv, "--require-hashes", "--no-deps", "--no-build-isolation", "-r", str(LOCK)],
    )
    links = [word for package in packages for word in ("-e", str(package))]
    step("Tripline's own packages", [*uv, "--no-deps", "--no-build-isolation", *links])


def part_of_lock(target: Path, chosen: Callable[[str], bool]) -> Path:
    """Writes the lock's entries for the chosen packages, versions and hashes included, as a requirements file."""
    entries = re.split(r"^(?=\S)", LOCK.read_text(encoding="utf-8"), flags=re.MULTILINE)
    target.write_text(
        "".join(entry for entry in entries if chosen(entry.partition("==")[0])), encoding="utf-8"
    )
    return target


def step(what: str, command: list[str]) -> None:
    """Says what is being done, does it, says how long it took; ends with a sentence when it fails."""
    print(f"  {what} ...", file=sys.stderr, flush=True)
    begun = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, check=False)
    if done.returncode != 0:
        sys.exit(f"  Installing {what} failed (see above). Check the network and run `make env` again.")
    print(f"  {what}: done in {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
