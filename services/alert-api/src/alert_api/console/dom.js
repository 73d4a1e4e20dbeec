// Building elements from data. Texts go in as texts, never as markup.

/** An element: `attributes` may hold `class`, `dataset`, `on` (event → listener); null children are left out. */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "dataset") Object.assign(node.dataset, value);
    else if (name === "on") for (const [kind, listener] of Object.entries(value)) node.addEventListener(kind, listener);
    else if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

export function byId(id) {
  return document.getElementById(id);
}

/** Sets a text only when it differs, so that screen readers and selections are left alone. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Makes `parent` hold exactly `nodes` in this order, moving as little as possible: focus stays where it is. */
export function arrange(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, index) => {
    if (parent.children[index] !== node) parent.insertBefore(node, parent.children[index] ?? null);
  });
}

/** Says something in the corner for a few seconds. */
export function toast(text) {
  const node = element("p", { class: "toast" }, text);
  byId("toasts").append(node);
  setTimeout(() => node.remove(), 6000);
}
