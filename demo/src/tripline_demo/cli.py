"""`tripline`: the whole line on this machine, in the foreground (demo) or in the background (all other commands)."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Literal, NoReturn

import click
from rich.console import Console
from rich.markup import escape

from tripline_contracts.event_type import DEFAULT
from tripline_demo import paths
from tripline_demo.errors import DemoError
from tripline_demo.stack import screen, single, stack
from tripline_demo.stack.places import Places
from tripline_demo.stack.progress import Progress
from tripline_demo.stack.supervisor import Supervisor

Command = Callable[..., Any]
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _start_options(command: Command) -> Command:
    options = (
        click.option("--fresh", is_flag=True, help="Begin anew: remove the data of the last run."),
        click.option(
            "--traffic/--no-traffic", envvar="TRIPLINE_TRAFFIC", default=True, show_default=True,
            help="Seeded rules and generator traffic.",
        ),
        click.option(
            "--clock", type=click.Choice(["wall", "data"]), envvar="TRIPLINE_CLOCK", default="wall", show_default=True,
            help="What moves the record clock: also the wall clock, or the data only (for old data).",
        ),
        click.option(
            "--event-type", envvar="TRIPLINE_EVENT_TYPE", default=DEFAULT, show_default=True,
            help="What is judged: the name of an event type that ships, or the path of a YAML file.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@click.group(help=__doc__)
def commands() -> None:
    """The group of commands."""


@commands.command()
@_start_options
def demo(*, fresh: bool, traffic: bool, clock: Literal["wall", "data"], event_type: str) -> None:
    """Start everything, show where it is, stop everything at Ctrl-C."""
    places, console = _places(), Console()
    try:
        options = stack.Options(traffic=traffic, fresh=fresh, clock=clock, event_type=event_type)
        _up(places, console, options, "Ctrl-C here")
        _watch(places)
        console.print("The supervisor is gone; cleaning up.")
        sys.exit(_down(places, console) or 1)
    except KeyboardInterrupt:
        _down(places, console)


@commands.command()
@_start_options
def up(*, fresh: bool, traffic: bool, clock: Literal["wall", "data"], event_type: str) -> None:
    """Start everything in the background."""
    options = stack.Options(traffic=traffic, fresh=fresh, clock=clock, event_type=event_type)
    _up(_places(), Console(), options, "make down")


@commands.command()
def status() -> None:
    """Show what runs. Ends with 0 when all of it does, else with 3."""
    places, console = _places(), Console()
    states = stack.states(places)
    if not states:
        left = stack.abandoned(places)
        hint = (
            f"; {left} processes of it are left over: `make down` ends them"
            if left
            else ": `make up` starts it"
        )
        console.print(f"Tripline is not running{hint}.", soft_wrap=True)
        sys.exit(3)
    screen.show_states(console, states)
    sys.exit(0 if screen.is_healthy(states) else 3)


@commands.command()
def down() -> None:
    """Stop everything."""
    _down(_places(), Console())


@commands.command()
@click.argument("process")
def stop(process: str) -> None:
    """Stop one process of the stack that runs; `tripline status` lists them."""
    single.stop(_places(), process, Progress(Console()))


@commands.command()
@click.argument("process")
def start(process: str) -> None:
    """Start one process again, and wait until it is up."""
    single.start(_places(), process, Progress(Console()))


@commands.command()
def rebuild() -> None:
    """Build the engine's checkpoint again from the recorded order: stops the engine, builds, starts it."""
    console = Console()
    aside = single.rebuild_engine(_places(), Progress(console))
    console.print(f"The old checkpoint is at {aside}; remove it when you are content.", soft_wrap=True)


@commands.command(context_settings={"ignore_unknown_options": True}, add_help_option=False)
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def prove(options: tuple[str, ...]) -> None:
    """Judge again what the engine has recorded, and compare: `tripline-engine prove` with this stack's settings."""
    sys.exit(single.engine_command(_places(), "prove", options))


@commands.command(context_settings={"ignore_unknown_options": True}, add_help_option=False)
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def backtest(options: tuple[str, ...]) -> None:
    """Try rules on recorded history: `tripline-engine backtest` with this stack's settings."""
    sys.exit(single.engine_command(_places(), "backtest", options))


def _places() -> Places:
    return Places(paths.var_folder())


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    _shield()
    raise KeyboardInterrupt


def _shield() -> None:
    """A second Ctrl-C while processes are stopped would leave some behind: it is ignored."""
    for stop_signal in STOP_SIGNALS:
        signal.signal(stop_signal, signal.SIG_IGN)


def _up(places: Places, console: Console, options: stack.Options, how_to_stop: str) -> None:
    for stop_signal in STOP_SIGNALS:
        signal.signal(stop_signal, _interrupt)
    console.print("[bold]Tripline[/] starts")
    running = stack.up(places, options, Progress(console))
    if running.was_running:
        console.print("It is running already (as it was started then).")
    screen.show_running(console, running.stack, places, how_to_stop)
    if running.first_alert_seconds is not None:
        console.print(f"First alert after {running.first_alert_seconds:.0f} s.", highlight=False)


def _watch(places: Places) -> None:
    """Returns when the supervisor does not answer any more."""
    supervisor = Supervisor(places.socket)
    while supervisor.is_up():
        time.sleep(1)


def _down(places: Places, console: Console) -> int:
    _shield()
    console.print("[bold]Tripline[/] stops")
    if not stack.down(places, Progress(console)):
        console.print("Nothing was running.")
    return 0


def main() -> None:
    """The console script: errors are sentences, not tracebacks."""
    try:
        commands(standalone_mode=False)
    except click.exceptions.ClickException as mistake:
        mistake.show()
        sys.exit(mistake.exit_code)
    except DemoError as failure:
        Console(stderr=True).print(f"[red]✗[/] {escape(str(failure))}", highlight=False, soft_wrap=True)
        sys.exit(1)
    except (KeyboardInterrupt, click.exceptions.Abort):
        sys.exit(130)


if __name__ == "__main__":
    main()
