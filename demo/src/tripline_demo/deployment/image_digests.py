"""Writes the digests of the images of others into Dockerfiles and compose file: `make digests`.

Whoever may write a tag in a registry changes what it names; a digest names one content for good. A digest counts for
all platforms, and a tag stays beside it for people and for the next time.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tripline_demo import paths
from tripline_demo.errors import DemoError

OURS: Final = "tripline/"
"""Built from the checkout, and in no registry."""
FILES: Final = ("docker-compose.yml", "*/Dockerfile", "services/*/Dockerfile")
_REFERENCE: Final = re.compile(
    r"^(?P<word>FROM|\s+image:)(?P<gap>\s+)(?P<tag>[^\s@]+)(?P<digest>@\S+)?", re.MULTILINE
)
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
_SECONDS: Final = 120


def references(text: str) -> list[str]:
    """The images of others that a Dockerfile or compose file names, as they stand there."""
    return [
        match["tag"] + (match["digest"] or "")
        for match in _REFERENCE.finditer(text)
        if not match["tag"].startswith(OURS)
    ]


def pin(root: Path, digest_of: Callable[[str], str]) -> dict[str, str]:
    """Gives each image of others the digest that `digest_of` has for its tag, in place; the digests by tag.

    Writes nothing unless all are known: whatever `digest_of` raises passes through.
    """
    texts = {path: path.read_text(encoding="utf-8") for form in FILES for path in sorted(root.glob(form))}
    tags = {reference.partition("@")[0] for text in texts.values() for reference in references(text)}
    digests = {tag: digest_of(tag) for tag in sorted(tags)}

    def pinned(match: re.Match[str]) -> str:
        digest = digests.get(match["tag"])
        return f"{match['word']}{match['gap']}{match['tag']}@{digest}" if digest else match[0]

    for path, text in texts.items():
        path.write_text(_REFERENCE.sub(pinned, text), encoding="utf-8")
    return digests


def digest_in_registry(tag: str) -> str:
    """What the registry has under the tag now, as docker says it. Raises DemoError."""
    command = ["docker", "buildx", "imagetools", "inspect", "--format", "{{json .Manifest}}", tag]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)
        digest = json.loads(done.stdout)["digest"]
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip()[-500:]
        raise DemoError(f"docker buildx does not tell the digest of {tag}: {said}") from error
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError, TypeError) as error:
        raise DemoError(f"docker buildx does not tell the digest of {tag}: {error}") from error
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise DemoError(f"docker buildx says that {tag} is {digest!r}, which is no digest.")
    return digest


def main() -> int:
    """Pins the images of this checkout."""
    try:
        digests = pin(paths.project_root(), digest_in_registry)
    except (DemoError, OSError) as failure:
        print(failure, file=sys.stderr)
        return 1
    for tag, digest in digests.items():
        print(f"{tag} is {digest}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
