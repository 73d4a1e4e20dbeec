// Names of lists and parameters, offered where a rule may name one.

import { registryItems } from "../core/client.js";
import { element } from "../core/dom.js";

/** What a limit or an amount is given as. */
export const SOURCES = [["number", "number"], ["parameter", "parameter"]];

const OFFERED = { list: "known-lists", parameter: "known-parameters" };

/** The names to choose from, of both kinds; they are read once, and there in a moment. */
export function knownNames() {
  const offered = Object.values(OFFERED).map((id) => element("datalist", { id }));
  ["/lists", "/parameters"].forEach((path, index) =>
    registryItems(path).then(
      (items) =>
        offered[index].replaceChildren(...items.map(({ name }) => element("option", { value: name }))),
      () => {}, // without them a name can still be typed
    )
  );
  return offered;
}

/** Has the field offer names of that kind; null: it takes no name. */
export function offerNames(input, kind) {
  if (kind === null) input.removeAttribute("list");
  else input.setAttribute("list", OFFERED[kind]);
  input.placeholder = kind === null ? "value" : `name of the ${kind}`;
}
