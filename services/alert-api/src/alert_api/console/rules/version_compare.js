// What is different between any two versions of a rule, in the registry's words.

import { registry } from "../core/client.js";
import { choice, element } from "../core/dom.js";

export function versionCompare(rule, versions) {
  if (versions.length < 2) return null;
  const numbers = versions.map(({ version }) => version);
  const from = numberChoice("From version", numbers, numbers.at(-2));
  const to = numberChoice("to version", numbers, numbers.at(-1));
  const words = element("output", { class: "rule-words" });
  const show = async () => {
    const path = `/rules/${rule.ruleId}/diff?from=${from.select.value}&to=${to.select.value}`;
    let text;
    try {
      text = (await registry(path)).body.summary;
    } catch (error) {
      text = `Cannot be read now: ${error.message}`;
    }
    // Whoever chose again in the meantime sees what was chosen last.
    if (path.endsWith(`?from=${from.select.value}&to=${to.select.value}`)) words.replaceChildren(text);
  };
  for (const { select } of [from, to]) select.addEventListener("change", show);
  show();
  return element("div", { class: "version-compare" }, from.label, " ", to.label, words);
}

function numberChoice(title, numbers, chosen) {
  const select = choice(numbers.map((number) => [String(number), String(number)]));
  select.value = String(chosen);
  return { select, label: element("label", {}, `${title} `, select) };
}
