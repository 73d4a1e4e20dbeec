// A secret, shown once: to be copied, and gone when it is closed.

import { button, element, labelled, setText } from "../core/dom.js";

/** `what` says whose it is, `label` what it is called, `note` what else there is to say of it. */
export function secretCard({ secret, what, label, note = null }, onClose) {
  const field = element("input", {
    id: "key-secret",
    class: "mono",
    readonly: true,
    autocomplete: "off",
    spellcheck: "false",
    on: { focus: () => field.select() },
  });
  field.value = secret;
  const said = element("p", { class: "hint", role: "status" });
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(secret);
      setText(said, "Copied. Hand it over by a way that others cannot read.");
    } catch {
      field.select();
      setText(said, "This browser does not let a page copy: it is selected, copy it by hand.");
    }
  }, { kind: "primary" });
  setTimeout(() => field.focus());
  return element(
    "div",
    { class: "key-secret" },
    element("p", {}, `${what} `, element("b", {}, "It is shown now and never again.")),
    element("div", { class: "key-copy" }, labelled(label, field), copy),
    said,
    note && element("p", { class: "muted small" }, note),
    element("div", { class: "dialog-end" }, button("Done", onClose)),
  );
}
