// A key's secret, shown once: to be copied, and gone when it is closed.

import { button, element, labelled, setText } from "../core/dom.js";
import { fullTime } from "../core/format.js";

/** `given` is the answer that has it; `before` is until when the one before is good, null: it is not. */
export function secretCard(given, before, onClose) {
  const secret = element("input", {
    id: "key-secret",
    class: "mono",
    readonly: true,
    autocomplete: "off",
    spellcheck: "false",
    on: { focus: () => secret.select() },
  });
  secret.value = given.key;
  const said = element("p", { class: "hint", role: "status" });
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(given.key);
      setText(said, "Copied. Hand it over by a way that others cannot read.");
    } catch {
      secret.select();
      setText(said, "This browser does not let a page copy: it is selected, copy it by hand.");
    }
  }, { kind: "primary" });
  setTimeout(() => secret.focus());
  return element(
    "div",
    { class: "key-secret" },
    element(
      "p",
      {},
      `This is the key of ${given.name}. `,
      element("b", {}, "It is shown now and never again."),
    ),
    element("div", { class: "key-copy" }, labelled("Key", secret), copy),
    said,
    before && element("p", { class: "muted small" }, `The one before is good until ${fullTime(before)}.`),
    element("div", { class: "dialog-end" }, button("Done", onClose)),
  );
}
