"""A real PostgreSQL that lets nobody in without TLS, under the name and the authority that a test gives it.

The embedded PostgreSQL was built without TLS, so this is the machine's own, of version 15 or newer, where it has one.
"""

from __future__ import annotations

import os
import pwd
import re
import secrets
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import trustme

from tripline_demo.embedded.postgres import ADMIN, server_user
from tripline_demo.processes import leash, ports

NAME = "postgres.tripline.test"
"""The name in the certificate, and the only one."""
OLDEST = 15
SECONDS = 180.0
_HBA = "hostssl all all 127.0.0.1/32 scram-sha-256\n"


@dataclass(frozen=True, slots=True)
class TlsPostgres:
    """A running server. `authority` signed its certificate, `other_authority` did not; files in PEM."""

    port: int
    authority: Path
    other_authority: Path
    password: str = field(repr=False)

    def dsn(self, *, name: str = NAME, database: str = "postgres", **options: str) -> str:
        """The superuser's connection URI, to this machine under that name; `options` are libpq's."""
        query = "&".join(f"{key}={value}" for key, value in {"hostaddr": ports.LOOPBACK, **options}.items())
        return f"postgresql://{ADMIN}:{self.password}@{name}:{self.port}/{database}?{query}"

    def verified(self, database: str = "postgres") -> str:
        """The one that everything is right with."""
        return self.dsn(database=database, sslmode="verify-full", sslrootcert=str(self.authority))


def binaries() -> Path | None:
    """The folder of a PostgreSQL with TLS on this machine."""
    on_path = shutil.which("postgres")
    folders = [Path(on_path).resolve().parent] if on_path else []
    for pattern in ("lib/postgresql/*/bin", "pgsql-*/bin"):
        folders += sorted(Path("/usr").glob(pattern), reverse=True)
    return next((folder for folder in folders if _is_usable(folder)), None)


def _is_usable(folder: Path) -> bool:
    server = folder / "postgres"
    if not server.exists() or not (folder / "initdb").exists():
        return False
    version = re.search(r"(\d+)", subprocess.check_output([server, "--version"], text=True))
    libraries = subprocess.run(["ldd", server], capture_output=True, text=True, check=False).stdout
    return version is not None and int(version[1]) >= OLDEST and "libssl" in libraries


@contextmanager
def running(folder: Path, home: Path) -> Iterator[TlsPostgres]:
    """The server of these binaries for the length of a `with`, with its data in `home`."""
    data, (port,) = home / "data", ports.free_ports(1)
    home.mkdir(parents=True)
    server = TlsPostgres(port, home / "ca.pem", home / "other-ca.pem", secrets.token_urlsafe(18))
    (home / "password").write_text(server.password)
    authority = trustme.CA()
    authority.cert_pem.write_to_path(server.authority)
    trustme.CA().cert_pem.write_to_path(server.other_authority)
    issued = authority.issue_cert(NAME)
    issued.private_key_pem.write_to_path(home / "server.key")
    issued.cert_chain_pems[0].write_to_path(home / "server.pem")
    (home / "server.key").chmod(0o600)
    user = server_user()
    if user is not None:
        for path in (home, *home.iterdir()):
            shutil.chown(path, user)
        for above in home.parents:
            if not above.stat().st_mode & stat.S_IXOTH:
                above.chmod(stat.S_IMODE(above.stat().st_mode) | stat.S_IXOTH)
    _initialise(folder, data, user)
    (data / "pg_hba.conf").write_text(_HBA)
    options = [f"port={port}", f"listen_addresses={ports.LOOPBACK}", "unix_socket_directories=", "fsync=off", "ssl=on",
               f"ssl_cert_file={home / 'server.pem'}", f"ssl_key_file={home / 'server.key'}"]  # fmt: skip
    command = [str(folder / "postgres"), "-D", str(data), *(word for o in options for word in ("-c", o))]
    process = leash.start(command, log=home / "postgres.log", stop_signal=signal.SIGINT, user=user)
    try:
        _wait(server, process)
        yield server
    finally:
        process.stop()


def _initialise(folder: Path, data: Path, user: str | None) -> None:
    password_file = data.with_name("password")
    group = pwd.getpwnam(user).pw_gid if user else None
    others: list[int] | None = [] if user else None
    done = subprocess.run(
        [folder / "initdb", "-D", data, "-U", ADMIN, f"--pwfile={password_file}", "--auth=scram-sha-256",
         "--encoding=UTF8", "--locale=C", "--no-sync"],
        user=user, group=group, extra_groups=others, cwd="/", check=False, capture_output=True, text=True,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def _wait(server: TlsPostgres, process: leash.Leashed) -> None:
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            psycopg.connect(server.verified(), connect_timeout=3).close()
            return
        except psycopg.OperationalError:
            assert process.is_running(), process.last_lines()
            assert time.monotonic() < deadline, process.last_lines()
            time.sleep(0.05)
