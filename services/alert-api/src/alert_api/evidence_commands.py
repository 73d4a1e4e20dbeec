"""`alert-api evidence`: keys to sign with, and bundles checked without a network."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from alert_api.adapters.evidence.ed25519 import new_private_key, read_signer, verifier
from alert_api.domain.evidence.bundle import MAX_BYTES
from alert_api.domain.evidence.checking import NotAsSigned, check
from tripline_http.errors import ConfigurationError


@click.group()
def evidence() -> None:
    """Signed bundles of evidence."""


@evidence.command("new-key")
@click.argument("file", type=click.Path(path_type=Path))
def new_key(file: Path) -> None:
    """Write a new private key to a file that nobody else can read, and print its public half.

    For another key later: put the new private key into the file, and below it the public keys of before.
    """
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        click.echo(f"{file} cannot be made: {error.strerror}", err=True)
        sys.exit(2)
    with os.fdopen(descriptor, "w") as opened:
        opened.write(new_private_key())
    _print_public(file)


@evidence.command("public-key")
@click.argument("file", type=click.Path(path_type=Path))
def public_key(file: Path) -> None:
    """Print the public half of the private key in a file."""
    _print_public(file)


@evidence.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--public-key",
    "key_file",
    required=True,
    type=click.Path(path_type=Path),
    help="PEM of the key you trust.",
)
def verify(file: Path, key_file: Path) -> None:
    """Say whether a bundle is as it was signed; ends with 1 where it is not. It needs no network and no database."""
    try:
        if file.stat().st_size > 2 * MAX_BYTES:
            raise NotAsSigned(f"the file has more than {2 * MAX_BYTES} bytes")
        data, pem = file.read_bytes(), key_file.read_bytes()
        is_signed = verifier(pem)
    except (OSError, ValueError) as error:
        click.echo(f"Nothing could be checked: {error}", err=True)
        sys.exit(1 if isinstance(error, NotAsSigned) else 2)
    try:
        checked = check(data, is_signed)
    except NotAsSigned as error:
        click.echo(f"Not as it was signed: {error}.", err=True)
        sys.exit(1)
    for line in _summary(checked.manifest, checked.files):
        click.echo(line)


def _print_public(file: Path) -> None:
    try:
        signer = read_signer("the key", file)
    except ConfigurationError as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    click.echo(signer.public.pem, nl=False)
    click.echo(f"key {signer.key_id}", err=True)


def _summary(manifest: Mapping[str, Any], files: Mapping[str, Any]) -> list[str]:
    made = datetime.fromtimestamp(manifest["madeAt"] / 1000, UTC).isoformat(timespec="seconds")
    what = f"evidence of {manifest['kind']} {manifest['id']}, drawn by {manifest['madeBy']} at {made}"
    lines = [f"As it was signed by key {manifest['keyId']}: {what}; {len(files)} files."]
    outcomes = [content["outcome"] for name, content in files.items() if name.endswith("verification.json")]
    for outcome, says in (
        ("match", "as its rule and the transactions say"),
        ("mismatch", "not what was judged: its verification.json has the differences"),
        ("refused", "not proven: its verification.json says why"),
    ):
        count = outcomes.count(outcome)
        if count:
            lines.append(f"{count} {'alert is' if count == 1 else 'alerts are'} {says}.")
    return lines
