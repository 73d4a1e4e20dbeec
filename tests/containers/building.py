"""Does what a Dockerfile says, without a container engine: each image in a folder of its own, as a user without rights.

An absolute path of the container becomes one below that folder, and the environment is empty but for what the
Dockerfile sets. Only what it copies is there. The first RUN, the same in several images, is done once.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

from numba.core.caching import UserProvidedCacheLocator as _Locator

import tripline_engine
from tests.containers import compose, dockerfile
from tests.containers.person import Person
from tripline_engine.kernel_cache import use_own_cache

OWN_PATHS = re.compile(r"(?<![\w./-])/(?=(?:opt|var/lib)/tripline\b|var/cache/uv\b|run/secrets\b)")
NETWORK = re.compile(r"(?:PIP|UV)_.*|(?:SSL|REQUESTS|CURL)_.*|.*_(?:proxy|PROXY)")
"""What a machine says about its network: an image build is told it by the engine."""


@dataclass(frozen=True, slots=True)
class Image:
    """What was built."""

    folder: Path
    environment: Mapping[str, str]
    workdir: Path

    def inside(self, text: str) -> str:
        """With the container's paths as they are here."""
        return OWN_PATHS.sub(f"{self.folder}/", text)


@dataclass(slots=True)
class Builder:
    """Builds images below `home` as `person`. `jars` are those of jars.sha256: they are not fetched again."""

    home: Path
    person: Person
    path: str
    jars: Path
    layers: dict[str, Path] = field(default_factory=dict)

    def build(self, name: str, file: Path) -> Image:
        """All instructions, in their order. Fails with the output of the RUN that fails."""
        folder = self.home / name
        for made in (folder, folder / "home", folder / "var", folder / "var" / "lib"):
            made.mkdir()
        self.person.own(folder)
        image = Image(folder, {"PATH": self.path}, folder)
        done: list[str] = []
        for one in dockerfile.read(file):
            done.append(f"{one.word} {one.text}")
            if one.word == "ENV":
                image = self._env(image, one.text)
            elif one.word == "WORKDIR":
                image = Image(folder, image.environment, Path(image.inside(one.text)))
                image.workdir.mkdir(parents=True)
                self.person.own(folder / "opt")
            elif one.word == "COPY":
                self._copy(image, one.text)
            elif one.word == "RUN" and "RUN" not in {text.split()[0] for text in done[:-1]}:
                self._layer(image, one.text, "\n".join(done))
            elif one.word == "RUN":
                self._run(image, one.text)
        return image

    def _env(self, image: Image, text: str) -> Image:
        pairs = dict(pair.split("=", 1) for pair in shlex.split(text))
        new = {
            name: image.inside(Template(value).substitute(image.environment)) for name, value in pairs.items()
        }
        return Image(image.folder, {**image.environment, **new}, image.workdir)

    def _copy(self, image: Image, text: str) -> None:
        *sources, target = text.split()
        goal = image.workdir / target
        for source in (compose.ROOT / source for source in sources):
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
                shutil.copytree(source, goal, dirs_exist_ok=True, ignore=ignored)
            else:
                goal.mkdir(parents=True, exist_ok=True) if target.endswith("/") else None
                shutil.copy(source, goal)
        self.person.own(image.workdir)

    def _layer(self, image: Image, text: str, key: str) -> None:
        """The RUN, or what it left behind in another image."""
        kept = self.layers.get(key)
        if kept is None:
            self._run(image, text)
            kept = self.layers[key] = self.home / "layers" / image.folder.name
            kept.parent.mkdir(exist_ok=True)
            _link_tree(image.folder / "opt", kept)
            return
        shutil.rmtree(image.folder / "opt")
        _link_tree(kept, image.folder / "opt")
        venv = image.folder / "opt" / "tripline" / "venv"
        _rename(venv, str(self.home / kept.name), str(image.folder))

    def _run(self, image: Image, text: str) -> None:
        words = image.inside(re.sub(r"--mount=\S+\s+", "", text))
        if "tripline_demo.embedded.jars" in words:
            # as if fetched before: that it fetches them is seen whenever the tests are set up
            target = image.folder / "opt" / "tripline" / "build" / "jars"
            shutil.copytree(self.jars, target)
            self.person.own(target.parent)
        network = {name: value for name, value in os.environ.items() if NETWORK.fullmatch(name)}
        settings = {**network, **image.environment, "HOME": str(image.folder / "home")}
        if (self.home / "uv-cache").is_dir():
            settings["UV_CACHE_DIR"] = str(self.home / "uv-cache")
        done = self.person.run(image.workdir, ["/bin/sh", "-c", words], settings)
        assert done.returncode == 0, f"RUN {text}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"


def _link_tree(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-al", str(source), str(target)], check=True)


def _rename(venv: Path, before: str, after: str) -> None:
    """Scripts of an environment name the folder that it is in."""
    for path in [venv / "pyvenv.cfg", *(venv / "bin").iterdir()]:
        if path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes()
        if before.encode() in data[:4096]:
            owner = path.stat()
            path.unlink()  # it is linked to what the other image has
            path.write_bytes(data.replace(before.encode(), after.encode()))
            path.chmod(owner.st_mode & 0o777)
            shutil.chown(path, owner.st_uid, owner.st_gid)


def usable_path(person: Person) -> str | None:
    """A PATH with a Python that this user can run and make environments with, or None."""
    fits = f"import ensurepip, sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    for folder in (Path(sys.base_prefix) / "bin", Path("/usr/local/bin"), Path("/usr/bin")):
        if person.run(Path("/"), [f"{folder}/python3", "-c", fits], {}).returncode == 0:
            return f"{folder}:/usr/bin:/bin"
    return None


def lend_kernels(image: Image) -> None:
    """What has been compiled of the same source here, as if the engine's volume had been there before.

    numba keeps a module's kernels in a folder named by the one that the module is in.
    """
    ours = use_own_cache(Path(tripline_engine.__file__).parent)
    (installed,) = (image.folder / "opt").rglob("site-packages/tripline_engine")
    theirs = Path(image.environment["NUMBA_CACHE_DIR"]) / ours.name
    for package in sorted({path.parent for path in installed.rglob("*.py")}):
        here = Path(tripline_engine.__file__).parent / package.relative_to(installed)
        folder_of: Callable[[str], str] = _Locator.get_suitable_cache_subpath
        before, after = (folder_of(str(directory / "any.py")) for directory in (here, package))
        if (ours / before).is_dir():
            # another process may be writing one
            shutil.copytree(ours / before, theirs / after, ignore=shutil.ignore_patterns("*.tmp.*"))
    for path in [theirs.parent, *theirs.parent.rglob("*")] if theirs.is_dir() else []:
        path.chmod(0o777)


def lend_uv_cache(home: Path, person: Person) -> None:
    """A copy of this machine's cache of uv in which the other user may write; the large part is linked, not copied."""
    uv = Path(sys.executable).with_name("uv")
    asked = subprocess.run([str(uv), "cache", "dir"], capture_output=True, text=True, check=False)
    cache = Path(asked.stdout.strip())
    if asked.returncode != 0 or not cache.is_dir():
        return
    if os.geteuid() != 0:
        (home / "uv-cache").symlink_to(cache)
        return
    lent = home / "uv-cache"
    lent.mkdir()
    for part in cache.iterdir():
        # sdists of checkouts are left where they are: they are large, and nobody else needs them
        whole = not part.name.startswith("sdists-")
        source, target = (part, lent) if whole else (part / "pypi", lent / part.name)
        if not part.name.startswith(("archive-", "wheels-", "simple-", "sdists-")) or not source.is_dir():
            continue
        target.mkdir(exist_ok=True)
        how = "-al" if part.name.startswith("archive-") else "-a"
        copied = subprocess.run(["cp", how, str(source), str(target)], check=False)
        if copied.returncode != 0:  # another file system, or somebody is changing it
            shutil.rmtree(lent)
            return
    for which in (["-type", "d"], ["-links", "1"]):
        chown = ["-exec", "chown", "-h", f"{person.uid}:{person.gid}", "{}", "+"]
        subprocess.run(["find", str(home / "uv-cache"), *which, *chown], check=True)
