// What the keys of the inbox do, in a dialog.

import { byId, element, setText } from "../core/dom.js";

const DIALOG = "rule-dialog";
const KEYS = [
  ["j", "The next case"],
  ["k", "The case before"],
  ["Enter", "Open the chosen case"],
  ["a", "Acknowledge it"],
  ["e", "Claim it: it is yours then"],
  ["r", "Resolve it, with an outcome"],
  ["?", "Show these keys"],
  ["Esc", "Close this"],
];

export function showKeys() {
  setText(byId(`${DIALOG}-title`), "Keys of the inbox");
  byId(`${DIALOG}-body`).replaceChildren(
    element(
      "dl",
      { class: "pairs key-help" },
      KEYS.map(([key, does]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, does)]),
    ),
    element(
      "p",
      { class: "muted key-help" },
      "On the page of a case ",
      ...["a", ", ", "e", " and ", "r"].map((text, index) => index % 2 ? text : element("kbd", {}, text)),
      " are about that case.",
    ),
  );
  byId(DIALOG).showModal();
}

/** The keys that are pressed most, in a line below the list. */
export function keyLine() {
  const keys = [
    ["j", "down"],
    ["k", "up"],
    ["a", "acknowledge"],
    ["e", "claim"],
    ["r", "resolve"],
    ["?", "all keys"],
  ];
  return element(
    "p",
    { class: "muted small triage" },
    "Keys: ",
    keys.flatMap(([key, does]) => [element("kbd", {}, key), ` ${does} `]),
  );
}
