// A mapping for a file: what the registry recognises in its first bytes, what a person says, and what that reads.

import { registry, session, SignedOut } from "../core/client.js";
import { button, choice, element, labelled, setText, toast } from "../core/dom.js";
import { FIELDS } from "../core/event_type.js";
import { FieldChoice } from "./field_choice.js";
import { firstRows } from "./first_rows.js";
import { mappingText, NUMBERS } from "./mapping_text.js";
import { fileFacts, goingOn, HEAD_BYTES, headOf } from "./mapped_file.js";

const PAUSE_MS = 250;
const SECONDS = 20;
const INTRODUCTION =
  `Which columns of a file are which fields, for tries over files and for replays. Only the first ` +
  `${HEAD_BYTES / 1024} KiB leave this browser; they are looked at, and not kept.`;

export class Mappings {
  constructor() {
    this.file = element("input", { type: "file", id: "mapping-file", on: { change: () => this.choose() } });
    this.stands = element("p", { class: "mapping-stands", role: "status" });
    this.error = element("p", { class: "error", role: "alert" });
    this.outcome = element("div");
    this.ask = element(
      "div",
      {},
      labelled("File", this.file, "CSV, JSON lines or a JSON array, packed by gzip or zstd or not"),
    );
    this.element = element(
      "article",
      { class: "mappings", hidden: true },
      element("a", { class: "back", href: "/rules/backtests", "data-go": true }, "\u2190 All backtests"),
      element("h1", {}, "A mapping for a file"),
      element("p", { class: "muted" }, INTRODUCTION),
      this.ask,
      this.stands,
      this.error,
      this.outcome,
    );
    this.forget();
  }

  forget() {
    Object.assign(this, { turn: null, head: null, proposal: null, choices: [], text: "", timer: null });
    this.file.value = "";
    this.outcome.replaceChildren();
    for (const node of [this.stands, this.error]) setText(node, "");
  }

  open() {
    const may = session.may("rules:write");
    this.ask.hidden = !may;
    if (!may) setText(this.stands, "Who may write rules may have a mapping proposed.");
  }

  /** A file was chosen: what is in it. */
  async choose() {
    const [file] = this.file.files;
    this.outcome.replaceChildren();
    setText(this.error, "");
    if (file === undefined) return setText(this.stands, "");
    setText(this.stands, `Looking at ${file.name}\u2026`);
    const turn = this.turn = {};
    try {
      const head = await headOf(file);
      const { body } = await registry("/mapping-proposals", { method: "POST", body: head, seconds: SECONDS });
      if (turn !== this.turn) return undefined;
      Object.assign(this, { head, name: file.name, proposal: body.proposal });
      setText(this.stands, fileFacts(file, body.proposal));
      this.build();
      return this.tryIt();
    } catch (error) {
      if (turn !== this.turn) return undefined;
      setText(this.stands, "");
      if (error instanceof SignedOut) return undefined;
      const said = error.body?.errors?.map(({ message }) => message).join(" ");
      return setText(this.error, `Nothing can be proposed for ${file.name}: ${said || error.message}`);
    }
  }

  /** The parts that a person may change, as they are proposed. */
  build() {
    const { fields, columns, byPosition } = this.proposal;
    const onChange = () => this.changed();
    const named = new Map(fields.map((one) => [one.field, one]));
    this.choices = FIELDS.filter(({ name }) => named.has(name)).map((declared) =>
      new FieldChoice(declared, named.get(declared.name), { columns, byPosition }, onChange)
    );
    this.zone = element("input", {
      id: "mapping-zone",
      list: "mapping-zones",
      maxlength: 60,
      autocomplete: "off",
    });
    this.numbers = choice(this.numberStyles(), { id: "mapping-numbers" });
    this.numbers.value = this.proposal.numbers.length > 1 ? "" : this.likelyStyle();
    this.nulls = element("input", { id: "mapping-nulls", maxlength: 200, autocomplete: "off" });
    this.nulls.value = this.proposal.nulls.join(" ");
    for (const control of [this.zone, this.numbers, this.nulls]) control.addEventListener("change", onChange);
    this.wrong = element("ul", { class: "error mapping-wrong", "aria-label": "What is open or wrong" });
    this.rows = element("div", { "aria-live": "polite" });
    this.shown = element("pre", {
      class: "mapping-text",
      tabindex: 0,
      role: "region",
      "aria-label": "The mapping",
    });
    this.outcome.replaceChildren(...this.sections());
  }

  sections() {
    const zones = Intl.supportedValuesOf("timeZone").map((value) => element("option", { value }));
    const several = this.proposal.numbers.map(({ meaning }) => meaning).join(", or ");
    return [
      element("h2", {}, "Fields"),
      element("ul", { class: "mapping-fields" }, this.choices.map((one) => one.element)),
      element("h2", {}, "Times and numbers"),
      element(
        "div",
        { class: "mapping-controls" },
        labelled(
          "Zone of times that name none",
          this.zone,
          this.proposal.needsTimeZone ? "Times of this file name none: say which clock they are of." : null,
        ),
        element("datalist", { id: "mapping-zones" }, element("option", { value: "UTC" }), zones),
        labelled(
          "Numbers are written as",
          this.numbers,
          this.proposal.numbers.length > 1 ? `${this.proposal.numberExample} may be ${several}.` : null,
        ),
        labelled("Words for no value", this.nulls, "Parted by spaces"),
      ),
      this.wrong,
      element("h2", {}, "First rows"),
      this.rows,
      element("h2", {}, "Mapping"),
      this.shown,
      element(
        "div",
        { class: "mapping-acts" },
        button("Download it", () => this.download(), { kind: "primary" }),
        button("Copy it", () => this.copy()),
      ),
      element("h2", {}, "To go on"),
      goingOn(this.name, mappingName(this.name)),
    ];
  }

  numberStyles() {
    const open = this.proposal.numbers.length > 1 ? [["", "Choose\u2026"]] : [];
    return [...open, ...NUMBERS.map(({ shown }, index) => [String(index), shown])];
  }

  likelyStyle() {
    const [style] = this.proposal.numbers;
    const index = NUMBERS.findIndex((one) =>
      one.decimalComma === style?.decimalComma && one.thousands === style?.thousands
    );
    return String(Math.max(0, index));
  }

  changed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tryIt(), PAUSE_MS);
  }

  /** Has the registry read the first rows with what is chosen now. */
  async tryIt() {
    this.text = mappingText(this.name, this.proposal, {
      timeZone: this.zone.value.trim(),
      numbers: NUMBERS[this.numbers.value] ?? null,
      nulls: this.nulls.value.split(/\s+/).filter(Boolean),
      fields: this.choices.map((one) => one.read()),
    });
    setText(this.shown, this.text);
    const turn = this.turn = {};
    try {
      const body = { ...this.head, mapping: this.text };
      const answer = await registry("/mapping-proposals", { method: "POST", body, seconds: SECONDS });
      if (turn !== this.turn) return;
      setText(this.error, "");
      this.judge(answer.body);
    } catch (error) {
      if (turn !== this.turn || error instanceof SignedOut) return;
      setText(this.error, `It cannot be tried now: ${error.message}`);
    }
  }

  /** Says what is open or wrong where it is, and shows the rows. */
  judge({ problems, firstRows: rows }) {
    const rest = [];
    if (this.numbers.value === "") rest.push("Numbers: say how they are written.");
    if (this.proposal.needsTimeZone && !this.zone.value.trim()) {
      rest.push("Times name no zone: say which it is.");
    }
    for (const one of this.choices) one.say(messageOf(problems, one.declared.name));
    for (const { field, message } of problems) {
      if (!field.startsWith("fields.")) rest.push(`${field || "The file"}: ${message}`);
    }
    this.wrong.replaceChildren(...rest.map((text) => element("li", {}, text)));
    this.wrong.hidden = rest.length === 0;
    this.rows.replaceChildren(...firstRows(rows));
  }

  download() {
    const address = URL.createObjectURL(new Blob([this.text], { type: "application/yaml" }));
    element("a", { href: address, download: mappingName(this.name) }).click();
    // the click has begun to read it; a moment later nobody needs the address
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.text);
      toast("The mapping is copied.");
    } catch {
      toast("This browser does not let it be copied: mark the text, or download it.");
    }
  }
}

function messageOf(problems, name) {
  const ofField = problems.filter(({ field }) =>
    field === `fields.${name}` || field.startsWith(`fields.${name}.`)
  );
  return ofField.map(({ message }) => message).join("; ");
}

/** "may.csv.gz" → "may.yaml" */
function mappingName(name) {
  return `${name.replace(/(\.(csv|tsv|txt|json|jsonl|ndjson|gz|zst|zstd))+$/i, "") || "file"}.yaml`;
}
