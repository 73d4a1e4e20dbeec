"""A mapping for a file in the console: recognised, filled in, tried on the first rows, and taken away."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.accessibility import serious_faults
from tests.browser.support.layout import SCHEMES, fits
from tests.browser.support.pictures import picture
from tripline_contracts import event_type_loader
from tripline_contracts.recordings.mapping_reader import read_mapping

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]

BANK = (
    "Kontoauszug 2021\r\n\r\n"
    "Referenz;Buchungstag;Uhrzeit;Auftraggeber;Empfänger;Art;Betrag;Notiz\r\n"
    "R1;01.06.2021;14:00;Jäger;Bäckerei;Bar;1.234,56;x\r\n"
    "R2;21.06.2021;14:01;Jäger;Bäckerei;Karte;-7,5;\r\n"
    "Summe;;;;;;1.227,06;\r\n"
).encode("latin-1")
UNCLEAR = b"id,when,type,amount\n1,06/01/2021 12:00,CRD,5\n2,06/02/2021 12:00,CRD,6\n"
WIDTHS = (390, 1280, 2560)


def choose(page: Page, name: str, content: bytes) -> None:
    file: FilePayload = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    chooser = page.get_by_label("File", exact=True)
    # a file can be given to one that is hidden still, before the page knows who asks
    expect(chooser).to_be_visible()
    chooser.set_input_files(file)


def test_a_file_is_recognised_filled_in_and_its_mapping_taken_away(
    open_window: OpenWindow, tmp_path: Path
) -> None:
    window = open_window("analyst")
    page = window.page
    window.go("/rules/backtests")
    page.get_by_role("link", name="a mapping for a file").click()
    expect(page.get_by_text("Only the first 192 KiB leave this browser")).to_be_visible()
    choose(page, "may's.csv.gz", gzip.compress(BANK))
    facts = "CSV in gzip, parted by semicolons, after 2 lines of something else, in Latin-1"
    expect(page.get_by_role("status").filter(has_text=facts)).to_be_visible()
    wrong = page.get_by_role("list", name="What is open or wrong")
    expect(wrong).to_have_text("Times name no zone: say which it is.")
    field = page.locator('[data-field="paymentType"]')
    expect(field.get_by_text("Open")).to_be_visible()
    expect(page.locator('[data-field="eventTime"]').get_by_label("The time of day is in")).to_have_value("2")
    expect(page.get_by_text("0 of the file’s 3 rows are read.")).to_be_visible()
    page.get_by_label("Zone of times that name none").fill("Europe/Berlin")
    page.get_by_label("Zone of times that name none").blur()
    field.get_by_label("“Bar” means").select_option("CSH")
    field.get_by_label("“Karte” means").select_option("CRD")
    expect(page.get_by_text("2 of the file’s 3 rows are read.")).to_be_visible()
    expect(page.get_by_role("row").nth(1)).to_contain_text("2021-06-01T12:00:00Z")
    expect(page.get_by_role("row").nth(1)).to_contain_text("1234.56")
    refused = page.get_by_role("list", name="Lines that cannot be read")
    expect(refused).to_contain_text("Line 6: eventTime: required; paymentType: required")
    expect(page.get_by_text("Columns that are not read: Notiz")).to_be_visible()
    expect(field.get_by_text("Open")).to_be_hidden()
    page.get_by_label("Words for no value").fill("R2")
    page.get_by_label("Words for no value").blur()
    expect(refused).to_contain_text("Line 5: transactionId: required")
    page.get_by_label("Words for no value").fill("NULL n/a")
    page.get_by_label("Words for no value").blur()
    expect(page.get_by_text("2 of the file’s 3 rows are read.")).to_be_visible()
    expect(page.get_by_text("--files './may'\\''s.csv.gz' --mapping './may'\\''s.yaml'")).to_be_visible()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        faults = serious_faults(window)
        assert faults == [], faults
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            fits(window, width)
            picture(page, f"mapping-{width}-{scheme}", full_page=True)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download it").click()
    assert download.value.suggested_filename in ("may's.yaml", "may_s.yaml")
    saved = tmp_path / "saved.yaml"
    download.value.save_as(saved)
    mapping = read_mapping(saved.read_bytes(), event_type_loader.load())
    assert (mapping.skip_lines, mapping.encoding, str(mapping.time_zone)) == (2, "latin-1", "Europe/Berlin")
    assert mapping.nulls == {"NULL", "n/a"}
    assert mapping.fields["paymentType"].values == {"Bar": "CSH", "Karte": "CRD"}
    window.is_clean()


def test_what_may_be_two_things_is_asked_with_the_keyboard_alone(open_window: OpenWindow) -> None:
    window = open_window("analyst", viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = window.page
    window.go("/rules/mappings")
    choose(page, "card.csv", UNCLEAR)
    time = page.locator('[data-field="eventTime"]')
    expect(time.get_by_text("by the values it could be 'when'")).to_be_visible()
    expect(time.get_by_text("expected a column, for it is required")).to_be_visible()
    time.get_by_label("eventTime comes from").focus()
    page.keyboard.press("ArrowDown")
    form = time.get_by_label("Times are written as")
    expect(form).to_be_visible()
    page.keyboard.press("Tab")
    expect(form).to_be_focused()
    form.select_option("other")
    page.keyboard.press("Tab")
    page.keyboard.type("%m/%d/%Y %H:%M")
    page.get_by_label("Zone of times that name none").fill("UTC")
    page.keyboard.press("Tab")
    expect(page.get_by_text("2 of the file’s 2 rows are read.")).to_be_visible()
    expect(page.get_by_role("row").nth(2)).to_contain_text("2021-06-02T12:00:00Z")
    fits(window, 390)
    faults = serious_faults(window)
    assert faults == [], faults
    picture(page, "mapping-unclear-390-dark", full_page=True)
    window.is_clean()


def test_what_cannot_be_proposed_says_why_and_readers_may_not(open_window: OpenWindow) -> None:
    window = open_window("analyst")
    window.go("/rules/mappings")
    choose(window.page, "table.xlsx", b"PK\x03\x04")
    alert = window.page.get_by_role("alert").filter(has_text="Nothing can be proposed for table.xlsx")
    expect(alert).to_contain_text("the file is a zip archive, as a spreadsheet is one")
    reader = open_window("auditor")
    reader.go("/rules/mappings")
    expect(reader.page.get_by_text("Who may write rules may have a mapping proposed.")).to_be_visible()
    expect(reader.page.get_by_label("File", exact=True)).to_be_hidden()
