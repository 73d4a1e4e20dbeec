// Building elements from data. Texts go in as texts, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element: `attributes` may hold `dataset`, `on` (event → listener); null children and values are left
 * out.
 */
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for drawings. */
export function drawing(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "dataset") Object.assign(node.dataset, value);
    else if (name === "on") {
      for (const [kind, listener] of Object.entries(value)) node.addEventListener(kind, listener);
    } else if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return node;
}

export function byId(id) {
  return document.getElementById(id);
}

/** Sets a text only when it differs, so that screen readers and selections are left alone. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// A press and its release are a click only where both meet the same element: under a pressed pointer lists
// stand still.
let pressed = false;
const postponed = new Map();

function release() {
  pressed = false;
  for (const [parent, nodes] of [...postponed]) arrange(parent, nodes);
}

addEventListener("pointerdown", () => {
  pressed = true;
}, { capture: true });
// what the click does comes first
for (const kind of ["pointerup", "pointercancel"]) {
  addEventListener(kind, () => setTimeout(release), { capture: true });
}
addEventListener("blur", () => setTimeout(release));

/**
 * Makes `parent` hold exactly `nodes` in this order, moving as little as possible: focus stays where it is.
 * While a
 * pointer is pressed that waits for its release; to have no nodes does not.
 */
export function arrange(parent, nodes) {
  postponed.delete(parent);
  if (pressed && nodes.length) return void postponed.set(parent, nodes);
  const wanted = new Set(nodes);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, index) => {
    if (parent.children[index] !== node) parent.insertBefore(node, parent.children[index] ?? null);
  });
  return undefined;
}

/** A button; `kind` is primary, quiet or danger. */
export function button(text, onClick, { kind = "quiet", ...attributes } = {}) {
  return element("button", { type: "button", class: kind, on: { click: onClick }, ...attributes }, text);
}

/** A label with its field, which has an id, below. */
export function labelled(text, field, hint = null) {
  return element(
    "div",
    { class: "field" },
    element("label", { class: "field-name", for: field.id }, text),
    field,
    hint && element("span", { class: "hint" }, hint),
  );
}

/** A form that checks nothing by itself; `onSend()` is called instead of sending it. */
export function form(onSend, { on = {}, ...attributes }, ...children) {
  const submit = (event) => {
    event.preventDefault();
    onSend();
  };
  return element("form", { novalidate: true, ...attributes, on: { ...on, submit } }, ...children);
}

/** A select of `[value, text]` pairs. */
export function choice(pairs, attributes = {}) {
  return element("select", attributes, pairs.map(([value, text]) => element("option", { value }, text)));
}

/** A table's head: texts, or `{ text, kind }`, which is a class; null is a column without a name. */
export function tableHead(columns) {
  const cells = columns.map((column) => {
    if (column === null) return element("td");
    const { text, kind = null } = typeof column === "string" ? { text: column } : column;
    return element("th", { scope: "col", class: kind }, text);
  });
  return element("thead", {}, element("tr", {}, cells));
}

/** Columns of numbers for it. */
export function ofNumbers(...texts) {
  return texts.map((text) => ({ text, kind: "number" }));
}

/** Says something in the corner for a few seconds. */
export function toast(text) {
  const node = element("p", { class: "toast" }, text);
  byId("toasts").append(node);
  setTimeout(() => node.remove(), 6000);
}
