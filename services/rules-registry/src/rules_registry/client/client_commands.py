"""What every client command has: the options that say whom it talks to, and errors as exit codes."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from rules_registry.client.client_settings import (
    DEFAULT_URL,
    KEY_FILE,
    URL,
    ClientSettings,
    read_client_settings,
)
from rules_registry.client.terminal import say_sentences
from rules_registry.errors import RegistryError
from tripline_http.errors import ConfigurationError

if TYPE_CHECKING:
    from rules_registry.client.registry_client import RegistryClient

REFUSED: Final = 1
MISCONFIGURED: Final = 2
registry_option = click.option(
    "--registry",
    "url",
    envvar=URL,
    show_envvar=True,
    default=DEFAULT_URL,
    show_default=True,
    help="Its address.",
)
key_file_option = click.option(
    "--key-file",
    envvar=KEY_FILE,
    show_envvar=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Holds the API key and nothing else. Without it the key is TRIPLINE_REGISTRY_KEY.",
)
reason_option = click.option("--reason", help="Why, for the audit trail.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")


def exits_by_error(command: Callable[..., None]) -> Callable[..., None]:
    """A sentence on stderr and exit code 1 for what is refused, 2 for settings that cannot be used."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except ConfigurationError as error:
            say_sentences(str(error))
            sys.exit(MISCONFIGURED)
        except RegistryError as error:
            say_sentences(str(error))
            sys.exit(REFUSED)

    return run


def client_command(command: Callable[..., None]) -> Callable[..., None]:
    """Gives the command a RegistryClient as its first argument, by the options of whom to talk to."""

    @functools.wraps(command)
    def run(url: str, key_file: Path | None, **options: Any) -> None:
        with _opened(read_client_settings(os.environ, url, key_file)) as registry:
            command(registry, **options)

    return registry_option(key_file_option(exits_by_error(run)))


@contextmanager
def _opened(settings: ClientSettings) -> Iterator[RegistryClient]:
    # Here and not above: the registry's own processes need no HTTP client.
    from rules_registry.client.http_session import HttpSession  # noqa: PLC0415
    from rules_registry.client.registry_client import RegistryClient  # noqa: PLC0415

    session = HttpSession(settings)
    try:
        yield RegistryClient(session)
    finally:
        session.close()
