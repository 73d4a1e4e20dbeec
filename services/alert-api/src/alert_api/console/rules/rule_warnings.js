// What is legal in a rule and likely wrong, as the registry says it.

import { registry } from "../core/client.js";
import { element } from "../core/dom.js";

/** Warnings of a body that could be published, for the rule of that id, or for a new one where it is null. */
export async function warningsOf(body, ruleId = null) {
  const query = ruleId === null ? "" : `?ruleId=${ruleId}`;
  return (await registry(`/rule-checks${query}`, { method: "POST", body })).body.warnings;
}

/** They as a list, each with the member that it is about; nothing where there are none. */
export function warningList(warnings) {
  if (!warnings.length) return null;
  return element(
    "ul",
    { class: "warnings", "aria-label": "Likely wrong" },
    warnings.map(({ field, message }) =>
      element("li", {}, field ? [element("span", { class: "mono" }, field), ": "] : null, message)
    ),
  );
}
