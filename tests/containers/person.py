"""Who a container runs as: when the tests run as root, somebody who has no rights here; else ourselves."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tripline_demo.processes import leash


@dataclass(frozen=True, slots=True)
class Person:
    """A user by number, who may have no name; `groups` are those besides its own."""

    uid: int
    gid: int
    groups: tuple[int, ...] = ()

    @property
    def home(self) -> str:
        """HOME as a container engine sets it."""
        try:
            return pwd.getpwuid(self.uid).pw_dir
        except KeyError:
            return "/"

    def command(self, folder: Path, words: Sequence[str]) -> list[str]:
        """The words, run in a folder as this user with no capability left."""
        inside = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', str(folder), *words]
        if os.geteuid() != 0:
            return inside
        setpriv = shutil.which("setpriv") or "setpriv"
        groups = f"--groups={','.join(map(str, self.groups))}" if self.groups else "--clear-groups"
        who = [f"--reuid={self.uid}", f"--regid={self.gid}", groups]
        return [setpriv, *who, "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--", *inside]

    def run(
        self, folder: Path, words: Sequence[str], environment: Mapping[str, str], seconds: float = 300
    ) -> subprocess.CompletedProcess[str]:
        """To the end, with nothing else in the environment."""
        return subprocess.run(
            self.command(folder, words), env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, errors="replace", timeout=seconds, check=False,
        )  # fmt: skip

    def start(
        self, folder: Path, words: Sequence[str], environment: Mapping[str, str], log: Path
    ) -> leash.Leashed:
        """As a server that ends with the tests."""
        return leash.start(self.command(folder, words), log=log, environment=environment, stop_seconds=75)

    def own(self, path: Path) -> None:
        """Makes what is below a path theirs."""
        if os.geteuid() == 0:
            subprocess.run(["chown", "-RPh", f"{self.uid}:{self.gid}", str(path)], check=True)


def nameless(number: int) -> Person:
    """Somebody without a name, from that number on; ourselves when we are not root."""
    if os.geteuid() != 0:
        return Person(os.geteuid(), os.getegid())
    taken = {entry.pw_uid for entry in pwd.getpwall()}
    free = next(uid for uid in range(number, number + 1000) if uid not in taken)
    return Person(free, free)


def named(name: str) -> Person:
    """A user of that name; ourselves when we are not root."""
    if os.geteuid() != 0:
        return Person(os.geteuid(), os.getegid())
    entry = pwd.getpwnam(name)
    return Person(entry.pw_uid, entry.pw_gid)
