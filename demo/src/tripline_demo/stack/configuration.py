"""Renders supervisord.conf."""

from __future__ import annotations

import configparser
import os
import shlex
from collections.abc import Iterable, Mapping

from supervisor.datatypes import dict_of_key_value_pairs

from tripline_demo.errors import StackFailed
from tripline_demo.stack.places import Places
from tripline_demo.stack.program import Program

_HEAD = """\
[unix_http_server]
file = {socket}
chmod = 0700

[supervisord]
nodaemon = true
umask = 077
logfile = {logs}/supervisord.log
logfile_maxbytes = 5MB
logfile_backups = 1
pidfile = {run}/supervisord.pid
childlogdir = {logs}
{user}
[rpcinterface:supervisor]
supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface
"""

_PROGRAM = """
[program:{name}]
command = {command}
directory = {directory}
environment = {environment}
{user}autostart = false
autorestart = {autorestart}
startsecs = {startsecs}
startretries = 3
stopsignal = {stopsignal}
stopwaitsecs = {stopwaitsecs}
killasgroup = true
priority = {priority}
redirect_stderr = true
stdout_logfile = {log}
stdout_logfile_maxbytes = 20MB
stdout_logfile_backups = 1
"""


def render(places: Places, programs: Iterable[Program]) -> str:
    """The text of supervisord.conf. Programs are in the order they start; they stop in the opposite one."""
    as_root = "user = root\n" if os.geteuid() == 0 else ""  # supervisord wants to be told that root is meant
    head = _HEAD.format(
        socket=_escape(str(places.socket)),
        logs=_escape(str(places.logs)),
        run=_escape(str(places.run)),
        user=as_root,
    )
    return head + "".join(_section(places, n, program) for n, program in enumerate(programs, start=1))


def environment_of(places: Places, program: str) -> dict[str, str]:
    """The variables that a program of the running stack was given."""
    reader = configparser.RawConfigParser()
    reader.read(places.supervisor_configuration, encoding="utf-8")
    pairs: dict[str, str] = dict_of_key_value_pairs(reader[f"program:{program}"]["environment"])
    return {name: value.replace("%%", "%") for name, value in pairs.items()}


def _section(places: Places, priority: int, program: Program) -> str:
    return _PROGRAM.format(
        name=program.name,
        command=_escape(shlex.join(program.command)),
        directory=_escape(str(program.directory)),
        environment=_environment(program.environment),
        user=f"user = {program.user}\n" if program.user else "",
        autorestart="false" if program.one_shot else "true",
        startsecs=0 if program.one_shot else 1,
        stopsignal=program.stop_signal,
        stopwaitsecs=program.stop_seconds,
        priority=priority,
        log=_escape(str(places.log_of(program.name))),
    )


def _environment(variables: Mapping[str, str]) -> str:
    return ",".join(f"{name}={_quote(name, _escape(value))}" for name, value in variables.items())


def _quote(name: str, value: str) -> str:
    # supervisord's reader knows no escape, and takes quotes off both ends of a value, its own or not.
    if '"' in value or "\n" in value or value != value.strip("'"):
        raise StackFailed(
            f"{name} is {value!r}: supervisord cannot pass on a value with such quotes or line breaks."
        )
    return f'"{value}"'


def _escape(text: str) -> str:
    return text.replace("%", "%%")
