"""Every dialog and form that people open, each where it is opened."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser.gallery.contents import Contents
from tests.browser.gallery.scenes import Act, Scene, press
from tests.browser.rules.test_mappings import BANK, choose


def form_of(page: Page) -> Locator:
    return page.locator("dialog[open]")


def begun_with(template: str, *unfolded: str) -> Act:
    """The form of a new rule, with all of its parts open."""

    def act(page: Page) -> None:
        page.get_by_role("button", name="New rule").click()
        form = form_of(page)
        form.get_by_label("Begin with").select_option(label=template)
        form.get_by_label("Name").fill("Größere Zahlungen über die Nacht, je Zahler und Empfänger")
        for text in unfolded:
            form.get_by_text(text).locator("visible=true").first.click()

    return act


def filtered(page: Page) -> None:
    """The form of a new rule with tests of its filter of every kind, sent as it is: what is missing is said."""
    page.get_by_role("button", name="New rule").click()
    form = form_of(page)
    for sign in ("=", "is one of", "is in the list", "starts with", "is missing"):
        form.get_by_role("button", name="Add a condition").locator("visible=true").first.click()
        form.get_by_label("Field").locator("visible=true").last.select_option("payeeId")
        form.get_by_label("Comparison").locator("visible=true").last.select_option(label=sign)
    form.get_by_label("Fires").select_option("crossing")
    form.get_by_role("button", name="Publish").click()
    expect(form.locator(".field-error").locator("visible=true").first).not_to_be_empty()


def relative(page: Page) -> None:
    """A limit that is measured."""
    page.get_by_role("button", name="New rule").click()
    form = form_of(page)
    form.get_by_label("The rule is").select_option("several")
    form.get_by_label("given as").locator("visible=true").first.select_option("measure")
    form.get_by_text("Measured of some of the payments alone").click()


def tried(page: Page) -> None:
    """A draft tried from its form."""
    begun_with("Card testing")(page)
    form_of(page).get_by_label("Try these beside it").fill("3, 10, 30")
    form_of(page).get_by_label("Try these windows").fill("60, 300")
    form_of(page).get_by_role("button", name="Try it").click()
    expect(form_of(page).get_by_role("link", name="See all of it")).to_be_visible(timeout=120_000)


def recognised(page: Page) -> None:
    """A bank's file, of which something is open."""
    choose(page, "may.csv", BANK)
    expect(page.get_by_role("list", name="What is open or wrong")).to_be_visible()


def bulk(page: Page) -> None:
    page.get_by_role("button", name="With all of these").click()
    expect(form_of(page).get_by_label("Do", exact=True)).to_be_visible()


def keys_of_the_inbox(page: Page) -> None:
    page.keyboard.press("?")
    expect(form_of(page)).to_be_visible()


def secret(page: Page) -> None:
    """A key that was given out: it is shown once. Names are used once, so the window's size is in it."""
    page.get_by_role("button", name="New key").click()
    size = page.viewport_size or {"width": 0}
    scheme = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    form_of(page).get_by_label("Name").fill(
        f"shown-once-{size['width']}-{scheme}-{page.evaluate('Date.now()')}"
    )
    form_of(page).get_by_role("button", name="Give out").click()
    expect(form_of(page).get_by_label("Key", exact=True)).to_be_visible()


def voided(page: Page) -> None:
    """Asked before a payment is voided; not done."""
    page.get_by_label("Transaction id").fill("p-25")
    page.get_by_label("Event time").fill("1777600000000")
    page.get_by_role("button", name="Void the payment").click()
    expect(page.get_by_role("dialog", name="Void a payment?")).to_be_visible()


def incomplete(page: Page) -> None:
    """What is missing in the forms of commands."""
    page.get_by_role("button", name="Forget this group").click()
    page.get_by_role("button", name="Void the payment").click()
    expect(page.locator(".field-error").locator("visible=true").first).not_to_be_empty()


def sent_as_it_is(name: str) -> Act:
    """A dialog whose form is sent without anything in it: what is missing is said at its field."""

    def act(page: Page) -> None:
        press(name)(page)
        form_of(page).locator("[type=submit]").click()
        expect(form_of(page).locator(".field-error")).to_be_visible()

    return act


def repaired(page: Page) -> None:
    """A record sent again without a reason."""
    page.get_by_text("Look at it").locator("visible=true").first.click()
    page.get_by_role("button", name="Send again").locator("visible=true").first.click()
    expect(page.get_by_text("Say why, in a few words.")).to_be_visible()


def dialogs(made: Contents) -> tuple[Scene, ...]:
    """In the order of the views."""
    case, many = f"/cases/{made.case_id}", f"/rules/{made.rules['many']}"
    bucketed, paused = f"/rules/{made.rules['bucketed']}", f"/rules/{made.rules['relative']}"
    rolled_out = f"/rules/{made.rules['rolled out']}"
    return (
        Scene("case-keys", "analyst", "/cases?state=all", "alerts in", keys_of_the_inbox),
        Scene("case-bulk", "analyst", "/cases?state=all", "alerts in", bulk),
        Scene("case-view", "analyst", "/cases?state=resolved", "With all of these", sent_as_it_is("Save this view")),
        Scene("case-resolve", "analyst", case, "Time line", press("Resolve…")),
        Scene("case-assign", "analyst", case, "Time line", press("Assign…")),
        Scene("case-comment", "analyst", case, "Time line", press("Comment…")),
        Scene("case-snooze", "analyst", case, "Time line", press("Snooze…")),
        Scene("case-snooze-wrong", "analyst", case, "Time line", sent_as_it_is("Snooze…")),
        Scene("webhook-new", "ops", "/webhooks", "Night shift", press("New webhook", "Add")),
        Scene("webhook-change", "ops", "/webhooks", "Night shift", press("Change: Fraud desk")),
        Scene("webhook-deliveries", "ops", "/webhooks", "Night shift", press("Deliveries: Fraud desk")),
        Scene("webhook-replay", "ops", "/webhooks", "Night shift", press("Replay: Fraud desk")),
        Scene("webhook-secret", "ops", "/webhooks", "Night shift", press("New secret: Fraud desk")),
        Scene("webhook-remove", "ops", "/webhooks", "Night shift", press("Remove: Fraud desk")),
        Scene("rule-form", "analyst", "/rules", "✓ applied", begun_with("Card testing")),
        Scene("rule-form-several", "analyst", "/rules", "✓ applied",
              begun_with("Much and to many", "Only some of the payments")),
        Scene("rule-form-filter", "analyst", "/rules", "✓ applied", filtered),
        Scene("rule-form-relative", "analyst", "/rules", "✓ applied", relative),
        Scene("rule-form-tried", "analyst", "/rules", "✓ applied", tried),
        Scene("rule-change-weighed", "analyst", "/rules", "✓ applied",
              press("Edit: Signs of a tested card, weighed")),
        Scene("rule-change-relative", "analyst", "/rules", "✓ applied",
              press("Edit: Three times what the payer usually spends in a day")),
        Scene("rule-change-bucketed", "analyst", bucketed, "too many alerts", press("Edit")),
        Scene("rule-try-shadow", "analyst", bucketed, "too many alerts", press("Try as a shadow")),
        Scene("rule-roll-out", "analyst", many, "runs beside version", press("Roll out")),
        Scene("rule-widen", "analyst", rolled_out, "What counted in each arm", press("Widen the rollout")),
        Scene("rule-promote", "analyst", rolled_out, "What counted in each arm", press("Promote the shadow")),
        Scene("rule-end-shadow", "analyst", rolled_out, "What counted in each arm", press("End the shadow")),
        Scene("rule-revert", "analyst", f"{bucketed}?from=1&to=3", "too many alerts", press("Revert to version 1")),
        Scene("rule-pause", "analyst", bucketed, "too many alerts", press("Pause")),
        Scene("rule-resume", "analyst", paused, "paused by", press("Resume")),
        Scene("rule-delete", "analyst", bucketed, "too many alerts", press("Delete")),
        Scene("rule-purpose", "analyst", many, "runs beside version", press("Purpose")),
        Scene("rule-trace", "ops", many, "runs beside version", press("Trace")),
        Scene("mapping", "analyst", "/rules/mappings", "leave this browser"),
        Scene("mapping-open", "analyst", "/rules/mappings", "leave this browser", recognised),
        Scene("list-new", "analyst", "/lists", "watched-types", press("New list")),
        Scene("list-entries", "analyst", "/lists", "watched-types", press("Entries: known-shops")),
        Scene("list-change", "analyst", "/lists", "watched-types", press("Change: watched-types")),
        Scene("parameter-new", "analyst", "/lists", "watched-types", press("New parameter")),
        Scene("alert-acknowledge", "analyst", f"/alerts/{made.alerts['bucketed']}", "What counted",
              press("Acknowledge")),
        Scene("alert-snooze", "analyst", f"/alerts/{made.alerts['many']}", "What counted", press("Snooze")),
        Scene("controls-missing", "ops", "/controls", "CLEAR_STATE_ALL", incomplete),
        Scene("controls-void", "ops", "/controls", "CLEAR_STATE_ALL", voided),
        Scene("controls-delete", "ops", "/controls", "CLEAR_STATE_ALL", press("Delete all rules")),
        Scene("rejected-why", "ops", "/rejected?state=open", "Look at it", repaired),
        Scene("key-new", "admin", "/keys", "night-shift", press("New key", "Give out")),
        Scene("key-secret", "admin", "/keys", "night-shift", secret),
        Scene("key-rotate", "admin", "/keys", "night-shift", press("Rotate: night-shift")),
        Scene("key-revoke", "admin", "/keys", "night-shift", press("Revoke: night-shift")),
    )  # fmt: skip
