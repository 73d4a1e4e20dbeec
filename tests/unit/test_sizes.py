"""No function, class, file or folder of ours is over its limit (`python -m tests.sizes`)."""

from __future__ import annotations

from pathlib import Path, PurePath

from tests import sizes


def test_nothing_of_ours_is_over_its_limit() -> None:
    assert list(map(str, sizes.excesses(sizes.ROOT, sizes.tracked()))) == []


def test_each_kind_of_excess_shows(tmp_path: Path) -> None:
    body = "    pass\n" * 60
    parameters = ", ".join(f"p{n}" for n in range(9))
    written = {
        "long.py": f"def run():\n{body}",
        "wide.py": f"class Wide:\n    def run(self, {parameters}): ...\n",
        "large.py": "class Large:\n" + "    x = 1\n" * 250,
        "tall.js": "// a line\n" * 301,
        **{f"full/module_{n}.py": "" for n in range(21)},
    }
    assert report(tmp_path, written) == [
        "long.py:1 run: lines 61, at most 60",
        "wide.py:2 run: parameters 9, at most 8",
        "large.py:1 Large: lines 251, at most 250",
        "tall.js: lines 301, at most 300",
        "full/: modules 21, at most 20",
    ]


def test_what_is_at_its_limit_passes(tmp_path: Path) -> None:
    parameters = ", ".join(f"p{n}" for n in range(8))
    fields = ", ".join(f"f{n}" for n in range(20))
    written = {
        "run.py": f"@decorated\ndef run({parameters}):\n" + "    pass\n" * 58,
        "value.py": f"class Value:\n    def __init__(self, {parameters}, *, {fields}): ...\n",
        "command.py": f"@click.command()\ndef command({fields}): ...\n",
        "large.py": "class Large:\n" + "    x = 1\n" * 249 + "\n" * 50,
        "full/__init__.py": "",
        **{f"full/module_{n}.py": "" for n in range(20)},
    }
    assert report(tmp_path, written) == []


def report(folder: Path, written: dict[str, str]) -> list[str]:
    """What is said of a tree with these files."""
    for name, source in written.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(source)
    return list(map(str, sizes.excesses(folder, map(PurePath, written))))
