"""The console's files and its way to the registry."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from alert_api.api import console
from rules_registry.domain.review import lifecycle
from tests.unit.alert_api.support.samples import alert_id, app
from tripline_engine.metric_name import MetricName
from tripline_engine.spark.driver import metric_names

FOLDER = Path(str(resources.files("alert_api").joinpath("console")))
FILES = {
    path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8")
    for path in FOLDER.rglob("*.*")
    if path.is_file()
}


@pytest.fixture
def client() -> FlaskClient:
    return app().test_client()


def test_the_page_and_all_it_names_are_served_under_a_strict_policy(client: FlaskClient) -> None:
    named = named_by_the_page(client)
    named |= {f"/console/{name}" for name in FILES if name.endswith(".js")}
    assert "/console/main.js" in named
    for path in ("/", *named):
        response = client.get(path)
        assert response.status_code == 200, path
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["X-Content-Type-Options"] == "nosniff"


def named_by_the_page(client: FlaskClient) -> set[str]:
    return set(re.findall(r'(?:href|src)="(/console/[^"]+)"', client.get("/").text))


def test_a_browser_keeps_what_a_page_names_and_asks_for_the_page_again(client: FlaskClient) -> None:
    assert client.get("/").headers["Cache-Control"] == "no-cache"
    named = named_by_the_page(client)
    main = next(path for path in named if path.endswith("/main.js"))
    folder = main.removesuffix("main.js")
    assert re.fullmatch(r"/console/files/[0-9a-f]{16}/", folder)
    assert all(path.startswith(folder) for path in named)
    for path in (*named, f"{folder}core/client.js"):
        assert client.get(path).headers["Cache-Control"] == "public, max-age=31536000, immutable", path
    # of a release before, or after, too
    for missing in (f"{folder}nothing.js", f"{folder}core", "/console/files/0123456789abcdef/main.js"):
        answer = client.get(missing)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (404, "no-store"), missing


def test_styles_are_one_file_with_each_in_its_place(client: FlaskClient) -> None:
    names = [name for name in FILES if name.startswith("styles/")]
    order = re.findall(r'@import "([^"]+)";', FILES["styles.css"])
    assert sorted(order) == sorted(names)
    served = client.get("/console/styles.css").text
    assert served.endswith("".join(FILES[name] for name in order))
    assert "@import" not in served


def test_the_address_changes_with_any_name_or_content() -> None:
    files = {"a.js": b"1", "b.js": b"2"}
    others = [{"a.js": b"1", "b.js": b"3"}, {"a.js": b"1", "c.js": b"2"}, {"a.js": b"1"}, {"a.js": b"12"}]
    assert len({console.digest_of(one) for one in (files, *others)}) == 5
    assert console.digest_of(dict(reversed(files.items()))) == console.digest_of(files)


def test_scripts_find_the_elements_they_look_for() -> None:
    there = set(re.findall(r'\bid="([^"]+)"', FILES["index.html"]))
    asked = {name for text in FILES.values() for name in re.findall(r'byId\("([^"]+)"\)', text)}
    assert asked
    assert asked <= there


def test_nothing_is_inline_and_nothing_is_built_from_markup() -> None:
    page = FILES["index.html"]
    assert not re.search(r"<style|<script(?![^>]*\bsrc=)|\sstyle=|\son[a-z]+=|javascript:", page)
    scripts = "".join(text for name, text in FILES.items() if name.endswith(".js"))
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|Function\(", scripts
    )


def test_every_input_of_the_page_has_a_label() -> None:
    page = FILES["index.html"]
    labelled = set(re.findall(r'<label for="([^"]+)"', page))
    fields = set(re.findall(r'<(?:input|select|textarea)[^>]*\bid="([^"]+)"', page))
    assert {"key", "comment", "confirm-word"} <= fields
    assert fields <= labelled


def test_files_stay_small_and_each_begins_with_what_it_is() -> None:
    for name, text in FILES.items():
        if name.endswith((".js", ".css")):
            assert text.startswith(("// ", "/* ")), name
            assert text.count("\n") <= 250, name


def test_metrics_that_the_console_reads_are_the_engines() -> None:
    read = {
        name
        for text in FILES.values()
        for name in re.findall(r'total\([\w.]+, "(\w+)"|\["(rule_\w+_total)", ', text)
        for name in name
        if name
    }
    declared = {value for value in vars(metric_names).values() if isinstance(value, MetricName)}
    declared |= set(metric_names.COUNTED_BY_RULE.values())
    endings = {"counter": ("_total",), "gauge": ("",), "histogram": ("_count", "_sum")}
    known = {metric.name + ending for metric in declared for ending in endings[metric.kind]}
    assert {"lag_records", "rows_total", "rule_evaluations_total"} <= read
    assert {f"tripline_engine_{name}" for name in read} <= known


def test_steps_of_a_published_rule_are_the_registrys() -> None:
    written = re.search(r"export const STEPS = (\{.*?\});", FILES["words/lifecycle.js"], re.DOTALL)
    assert written is not None
    named = re.sub(r"^  (\w+):", r'  "\1":', written[1], flags=re.MULTILINE)
    steps = json.loads(re.sub(r",\s*\}$", "}", named))
    assert steps == {state: list(lifecycle.STEPS[state]) for state in steps}
    before = {state for state, following in lifecycle.STEPS.items() if "submit" in following}
    assert set(lifecycle.STEPS) - set(steps) == {*before, "SUBMITTED", "WITHDRAWN"}
    asked = set(re.findall(r'^  \["([A-Z]+)"', FILES["words/lifecycle.js"], re.MULTILINE))
    assert asked == set(lifecycle.STEPS) - {"WITHDRAWN"}
    tags = set(re.findall(r'^  ([A-Z]+): \["', FILES["rule/rule_head.js"], re.MULTILINE))
    assert tags == set(steps), "the head of a rule's page has a word for each"


def test_other_files_are_not_found(client: FlaskClient) -> None:
    for path in (
        "/console/nothing.js",
        "/console/core",
        "/console/core/",
        "/console/core/../main.js",
        "/console//main.js",
        "/console/../cli.py",
        "/console/..%2fcli.py",
        "/alerts/nothing",
        "/rules/0",
        "/rules/nothing",
    ):
        assert client.get(path).status_code == 404, path


def test_an_unchanged_file_is_not_sent_again(client: FlaskClient) -> None:
    tag = client.get("/console/main.js").headers["ETag"]
    assert client.get("/console/main.js", headers={"If-None-Match": tag}).status_code == 304


@pytest.mark.parametrize(
    "path",
    [
        "/live",
        "/health",
        "/webhooks",
        "/rules",
        "/rules/7",
        "/lists",
        "/alerts",
        f"/alerts/{alert_id(1)}",
        "/changes",
        "/controls",
        "/rejected",
        "/audit",
        "/keys",
    ],
)
def test_the_address_of_a_view_is_the_page(client: FlaskClient, path: str) -> None:
    assert client.get(path).data == client.get("/").data
