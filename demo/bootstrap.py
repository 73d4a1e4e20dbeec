"""Makes .venv from the lock: run by `make env` with the machine's own python3, so the standard library only.

Every file is checked against a hash of requirements.lock before it is used: the installer's, and those of the tools
that build pyspark and Tripline's own packages, included. Nothing is installed outside of the checkout.
"""

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import interpreter
import machine

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"


def main() -> None:
    """Checks the machine, makes the environment, writes the stamp."""
    machine.check()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--as-named", action="store_true", help="take this very Python, however it was built")
    parser.add_argument("stamp", type=Path)
    parser.add_argument("packages", nargs="+", type=Path)
    chosen = parser.parse_args()
    packages = [package for package in chosen.packages if (package / "pyproject.toml").exists()]
    wanted = fingerprint(packages)
    if not (working() and chosen.stamp.exists() and chosen.stamp.read_text() == wanted):
        install(packages, sys.executable if chosen.as_named else interpreter.preferred())
        chosen.stamp.write_text(wanted)
    chosen.stamp.touch()


def working() -> bool:
    """Whether .venv has a Python that runs; its base may have been removed or replaced."""
    python = VENV / "bin" / "python"
    command = [str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return False
    version = tuple(int(part) for part in answer.split(".") if part.isdecimal())
    return machine.OLDEST <= version <= machine.NEWEST


def fingerprint(packages: list[Path]) -> str:
    """What the environment is made of; the stamp holds it."""
    files = [LOCK, Path(__file__), *(package / "pyproject.toml" for package in packages)]
    return "\n".join(hashlib.sha256(file.read_bytes()).hexdigest() for file in files)


def install(packages: list[Path], base: str) -> None:
    """An environment of the Python `base` unless there is one, uv by pip, everything else by uv, then Tripline's own
    packages as links to their sources."""
    if not working():
        step(f"a Python environment in .venv, of {base}", [base, "-m", "venv", "--clear", str(VENV)])
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
    begun = time.monotonic()
    say(f"{what} ...", end="")
    process = subprocess.Popen(command, cwd=ROOT)
    while process.poll() is None:
        try:
            process.wait(1)
        except subprocess.TimeoutExpired:
            if sys.stderr.isatty():
                say(f"{what} ... {time.monotonic() - begun:.0f} s", end="")
    if process.returncode != 0:
        sys.exit(f"\n  Installing {what} failed (see above). Check the network and run `make env` again.")
    say(f"{what}: done in {time.monotonic() - begun:.0f} s", end="\n")


def say(line: str, end: str) -> None:
    """On a terminal the line that was not ended is written over; elsewhere every line is one."""
    if sys.stderr.isatty():
        print(f"\r\033[K  {line}", end=end, file=sys.stderr, flush=True)
    else:
        print(f"  {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
