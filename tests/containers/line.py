"""Services of docker-compose.yml as processes: their images, commands and variables, with addresses of this machine."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.containers import dockerfile
from tests.containers.building import Image
from tests.containers.compose import Service
from tests.containers.person import Person, named
from tests.e2e.support.waiting import eventually
from tripline_demo.processes import leash
from tripline_demo.stack.checks import http_ready
from tripline_engine.spark.faults.engine_kill import kill_processes

ADDRESS = re.compile(r"\b(?:[a-z-]+|0\.0\.0\.0|127\.0\.0\.1):(\d+)\b")


@dataclass(slots=True)
class Line:
    """`ports` are the container's, with what stands for them here; `reader` is who owns the secrets."""

    images: Mapping[str, Image]
    ports: Mapping[int, int]
    database: str
    secrets: Path
    reader: Person
    home: Path
    running: dict[str, leash.Leashed] = field(default_factory=dict)

    def run_job(self, service: Service) -> tuple[int, str]:
        """A one-shot service to its end: exit code and what it said."""
        done = self._who(service).run(
            self._image(service).workdir, self._words(service), self.environment(service)
        )
        return done.returncode, done.stdout + done.stderr

    def start(self, service: Service) -> None:
        """A service that stays."""
        self.running[service.name] = self._who(service).start(
            self._image(service).workdir, self._words(service), self.environment(service),
            self.home / f"{service.name}.log",
        )  # fmt: skip

    def is_healthy(self, service: Service) -> bool:
        """What compose's own health check says."""
        words = [self._here(service, word) for word in service.health]
        environment = self.environment(service)
        return self._who(service).run(self._image(service).workdir, words, environment, 30).returncode == 0

    def wait(self, service: Service, port: int, seconds: float) -> None:
        """Until it says that it is ready. Fails when it ends, or does not in time."""
        # who is not root cannot start anything as somebody else
        user = self._who(service).uid if os.geteuid() == 0 else None
        process, ready = self.running[service.name], http_ready(self.ports[port], user)
        eventually(lambda: ready() or not process.is_running(), f"{service.name} is ready", seconds)
        assert process.is_running(), f"{service.name} ended:\n{process.last_lines(40)}"

    def environment(self, service: Service) -> dict[str, str]:
        """What its image sets and what compose sets, and nothing else."""
        image = self._image(service).environment
        given = {name: self._here(service, value) for name, value in service.environment.items()}
        return {**image, **given, "HOME": self._who(service).home}

    def stop(self) -> None:
        """All at once: in order an engine would write down its JVM's classes first, for a start that never comes."""
        for process in reversed(self.running.values()):
            kill_processes(process.process.pid)
            process.stop()

    def _image(self, service: Service) -> Image:
        return self.images[str(service.raw["image"])]

    def _who(self, service: Service) -> Person:
        if "user" in service.raw:
            return self.reader
        assert service.dockerfile
        user = named(dockerfile.user(service.dockerfile))
        return replace(user, groups=(self.reader.gid,)) if "group_add" in service.raw else user

    def _words(self, service: Service) -> list[str]:
        return [self._here(service, word) for word in service.command]

    def _here(self, service: Service, text: str) -> str:
        """With the folder of its secrets, the addresses and the database that stand for the container's."""
        text = text.replace("/run/secrets", str(self._mounted(service)))
        text = ADDRESS.sub(lambda match: f"127.0.0.1:{self.ports[int(match[1])]}", text)
        return self._image(service).inside(text.replace("/tripline?", f"/{self.database}?"))

    def _mounted(self, service: Service) -> Path:
        """A folder with this service's secrets only."""
        folder = self.home / "mounted" / service.name
        if not folder.exists():
            folder.mkdir(parents=True)
            for name in service.secrets:
                shutil.copy2(self.secrets / name, folder / name)
            self.reader.own(folder)
        return folder
