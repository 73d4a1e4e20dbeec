"""API keys in the console: an admin gives one out, its holder signs in with it, and is out when it is revoked."""

from __future__ import annotations

import time
import uuid

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.forms import fill, opened, send
from tests.browser.support.layout import fits, looks_well
from tests.browser.support.pictures import picture
from tests.browser.windows import Window, answers
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

ENDED = "Your session has ended. Sign in again."
DAY_MS = 86_400_000


def item_of(page: Page, name: str) -> Locator:
    return (
        page.get_by_role("list", name="Keys that were given out")
        .get_by_role("listitem")
        .filter(has_text=name)
    )


def give_out(admin: Window, name: str) -> str:
    """The admin makes a key of that name, copies it and closes the dialog; the key."""
    page = admin.page
    dialog = opened(page, "New key", "New key")
    expect(dialog.get_by_label("Name")).to_be_focused()
    send(dialog, "Give out", {"Name": name, "Role": "analyst", "Reason": "she joined the team"})
    secret = dialog.get_by_label("Key", exact=True).input_value()
    dialog.get_by_role("button", name="Copy").click()
    expect(dialog.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == secret
    dialog.get_by_role("button", name="Done").click()
    expect(dialog).to_be_hidden()
    return secret


def rotate(admin: Window, name: str) -> str:
    """The admin rotates the key, and closes the dialog by key; the new secret."""
    dialog = opened(
        admin.page, item_of(admin.page, name).get_by_role("button", name="Rotate"), f"Rotate {name}"
    )
    dialog.get_by_label("The one of now is good for").select_option(label="an hour")
    send(dialog, "Rotate")
    secret = dialog.get_by_label("Key", exact=True).input_value()
    admin.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(admin.page.locator("#key-secret")).to_have_count(0)
    return secret


def test_a_key_is_given_out_used_rotated_and_revoked(open_window: OpenWindow, stack: RunningStack) -> None:
    name = f"nina-{uuid.uuid4().hex[:8]}@bank.example"
    admin, nina = open_window("admin", permissions=("clipboard-read", "clipboard-write")), open_window(None)
    admin.go("/live")
    admin.page.get_by_role("link", name="Keys", exact=True).click()
    admin.shows("Keys")
    secret = give_out(admin, name)
    item = item_of(admin.page, name)
    expect(item.get_by_text("analyst", exact=True)).to_be_visible()
    expect(item.get_by_text("Never used.")).to_be_visible()
    expect(admin.page.locator("#key-secret")).to_have_count(0)
    assert secret not in admin.page.content()

    nina.sign_in(secret)
    expect(nina.page.get_by_text(f"Signed in as {name}")).to_be_visible()
    expect(nina.page.get_by_role("link", name="Keys", exact=True)).to_be_hidden()
    nina.page.get_by_role("link", name="Rules", exact=True).click()
    expect(nina.page.get_by_role("button", name="New rule")).to_be_enabled()
    expect(item.get_by_text("Last used within two minutes.")).to_be_visible()

    second = rotate(admin, name)
    assert second != secret
    expect(item.get_by_text("The one before is good until")).to_be_visible()
    nina.page.reload()
    expect(nina.page.get_by_text(f"Signed in as {name}")).to_be_visible()

    dialog = opened(admin.page, item.get_by_role("button", name="Revoke"), f"Revoke {name}")
    send(dialog, "Revoke", {"Reason": "she left"})
    expect(admin.page.get_by_text(f"{name} is revoked.")).to_be_visible()
    expect(item).to_have_count(0)
    # her page asks for what is new by itself, and is told
    expect(nina.page.get_by_text(ENDED)).to_be_visible()
    expect(nina.page.get_by_role("navigation", name="Views")).to_be_hidden()
    for key in (secret, second):
        nina.page.get_by_label("API key").fill(key)
        nina.page.get_by_role("button", name="Sign in").click()
        expect(nina.page.get_by_text("This key is not known here.")).to_be_visible()
    admin.page.get_by_label("Expired and revoked ones, too").check()
    expect(item.get_by_text("Revoked by admin")).to_be_visible()
    expect(item.get_by_role("button")).to_have_count(0)
    admin.is_clean()
    # 403: the demo's traffic generator knows the keys of its file alone.
    nina.is_clean("answered 401", "answered 403")
    with stack.registry("auditor") as auditor:
        told = (
            auditor.get("/v1/audit", params={"kind": "key", "subject": name})
            .raise_for_status()
            .json()["items"]
        )
    assert [(entry["type"], entry["actor"], entry["reason"]) for entry in told] == [
        ("KeyGivenOut", "admin", "she joined the team"),
        ("KeyRotated", "admin", None),
        ("KeyRevoked", "admin", "she left"),
    ]


def test_what_is_refused_is_said_in_the_form(open_window: OpenWindow) -> None:
    window = open_window("admin")
    page = window.page
    window.go("/keys")
    dialog = opened(page, "New key", "New key")
    send(dialog, "Give out", {"Name": "no spaces"})
    expect(dialog.get_by_role("alert").filter(has_text="A name has letters")).to_be_visible()
    send(dialog, "Give out", {"Name": "analyst"})
    expect(dialog.get_by_role("alert").filter(has_text="analyst")).to_be_visible()
    window.is_clean("answered 409")


def test_who_may_not_give_out_keys_is_not_shown_the_way(open_window: OpenWindow) -> None:
    window = open_window("analyst")
    window.go("/rules")
    expect(window.page.get_by_role("link", name="Rules", exact=True)).to_be_visible()
    expect(window.page.get_by_role("link", name="Keys", exact=True)).to_be_hidden()
    window.go("/keys")
    expect(window.page.get_by_role("alert").filter(has_text="scope")).to_be_visible()


def test_before_the_first_key_the_page_says_how_it_is_given_out(open_window: OpenWindow) -> None:
    window = open_window("admin")
    answers(window, "**/console/registry/keys?*", {"items": []})
    window.go("/keys")
    expect(window.page.get_by_text("No key has been given out here yet. “New key” gives out")).to_be_visible()
    looks_well(window, "keys-none")
    window.is_clean()


@pytest.fixture
def some_keys(stack: RunningStack) -> str:
    """Keys in every state, with the beginning of their names."""
    begin, now = f"shown-{uuid.uuid4().hex[:6]}", int(time.time() * 1000)
    keys = {
        "ada": ("analyst", now + 365 * DAY_MS),
        "ci-of-the-rules-repository": ("analyst", None),
        "eve@bank.example": ("approver", now + 3 * DAY_MS),
        "otto": ("viewer", None),
    }
    with stack.registry("admin") as admin:
        for name, (role, end) in keys.items():
            body = {"name": f"{begin}-{name}", "role": role, "expiresAt": end}
            admin.post("/v1/keys", json=body).raise_for_status()
        admin.post(f"/v1/keys/{begin}-ada/rotate", json={"overlapSeconds": 3600}).raise_for_status()
        admin.delete(f"/v1/keys/{begin}-otto").raise_for_status()
    return begin


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_the_page_and_its_dialogs_fit(
    open_window: OpenWindow, some_keys: str, scheme: str, width: int
) -> None:
    window = open_window("admin", viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = window.page

    def shoot(name: str) -> None:
        fits(window, width)
        picture(page, f"keys-{name}-{width}-{scheme}")

    window.go("/keys")
    page.get_by_label("Expired and revoked ones, too").check()
    expect(item_of(page, f"{some_keys}-otto").get_by_text("revoked", exact=True)).to_be_visible()
    expect(item_of(page, f"{some_keys}-eve").get_by_text("ends soon")).to_be_visible()
    shoot("list")
    dialog = opened(page, "New key", "New key")
    fill(dialog, {"Name": f"{some_keys}-{width}-{scheme}"})
    shoot("new")
    send(dialog, "Give out")
    expect(dialog.get_by_text("It is shown now and never again.")).to_be_visible()
    shoot("secret")
    dialog.get_by_role("button", name="Done").click()
    item_of(page, f"{some_keys}-ada").get_by_role("button", name="Rotate").click()
    shoot("rotate")
    page.keyboard.press("Escape")
    item_of(page, f"{some_keys}-ada").get_by_role("button", name="Revoke").click()
    shoot("revoke")
    page.keyboard.press("Escape")
    window.is_clean()
