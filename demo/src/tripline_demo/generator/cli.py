"""`tripline-generator`: serves the API and sends traffic; `replay FILE` plays a recording and ends."""

from __future__ import annotations

import click
from environs import Env
from flask import Flask

from tripline_demo.generator import process
from tripline_demo.generator.api.application import description
from tripline_demo.generator.errors import InvalidSettings
from tripline_demo.generator.replay_command import replay
from tripline_demo.generator.settings import read_event_type, read_settings
from tripline_http.errors import ConfigurationError
from tripline_http.keys.watched_key_file import WatchedKeyFile
from tripline_http.logs import configure_logs
from tripline_http.server import serve


@click.group(invoke_without_command=True)
@click.pass_context
def main(context: click.Context) -> None:
    """Makes transactions for demonstrations and tests. Without a command: serves the API and sends traffic."""
    if context.invoked_subcommand is None:
        _serve()


def _serve() -> None:
    try:
        settings = read_settings(Env())
        configure_logs(settings.log_level, "tripline-generator")
        keys = WatchedKeyFile(settings.api_keys_file)
    except (InvalidSettings, ConfigurationError) as error:
        raise click.ClickException(str(error)) from error
    running: list[process.Running] = []

    def load() -> Flask:
        running.append(process.start(settings, keys))
        return running[0].app

    def stop() -> None:
        for one in running:
            one.stop()

    serve(load, settings.bind, on_stop=stop)


main.add_command(replay)


@main.command()
def openapi() -> None:
    """Prints the API's OpenAPI document, of the installation's event type."""
    try:
        click.echo(description(read_event_type(Env())), nl=False)
    except InvalidSettings as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    main()
