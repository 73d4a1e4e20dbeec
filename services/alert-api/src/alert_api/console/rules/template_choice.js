// Where a new rule begins: the rules that people write again and again, and which of them this installation keeps too
// little history for.

import { registry } from "../core/client.js";
import { choice, element, labelled, setText } from "../core/dom.js";
import { MANY } from "../core/event_type.js";
import { span } from "../core/format.js";
import { TEMPLATES } from "../conditions/rule_templates.js";

const DAY = 86400;

export class TemplateChoice {
  /** `onChosen(definition)` is called with a template's, or with null for a blank rule. */
  constructor(onChosen) {
    this.short = new Map();
    this.why = element("p", { class: "hint", role: "status" });
    this.begin = choice([["", "a blank rule"]], {
      id: "rule-template",
      on: {
        change: () => {
          this.say();
          onChosen(this.chosen?.definition ?? null);
        },
      },
    });
    this.options = TEMPLATES.map(({ title }, index) => element("option", { value: index }, title));
    this.begin.append(...inGroups(this.options));
    this.element = element("div", { class: "templates" }, labelled("Begin with", this.begin), this.why);
    // where it cannot be asked, publishing says it
    this.readKept().catch(() => null);
  }

  get chosen() {
    return TEMPLATES[this.begin.value] ?? null;
  }

  /** Says of each template that looks back farther than transactions are kept here that it does. */
  async readKept() {
    const { body } = await registry("/rule-templates");
    for (const { templateId, neededSeconds, keptSeconds } of body.items) {
      if (keptSeconds === null || neededSeconds <= keptSeconds) continue;
      this.short.set(templateId, { needed: span(neededSeconds), kept: rounded(keptSeconds) });
    }
    TEMPLATES.forEach(({ templateId, title }, index) => {
      const short = this.short.get(templateId);
      if (short) setText(this.options[index], `${title} (needs ${short.needed}, ${short.kept} are kept)`);
    });
    this.say();
  }

  say() {
    const short = this.short.get(this.chosen?.templateId);
    const refused = short
      ? ` It looks back ${short.needed}, and of the ${MANY} here ${short.kept} can be kept for it: as it stands it ` +
        "will be refused. Shorten its windows, or have TRIPLINE_MAX_HISTORY raised, if the engine has memory for it."
      : "";
    setText(this.why, `${this.chosen?.explanation ?? ""}${refused}`);
  }
}

/** In whole days, where it is any. */
function rounded(seconds) {
  return span(seconds < DAY ? seconds : Math.floor(seconds / DAY) * DAY);
}

/** What can be chosen to begin with; the rules of a list that others published stand behind, as a group. */
function inGroups(options) {
  const isListed = (_, index) => TEMPLATES[index].catalogue !== null;
  const listed = options.filter(isListed);
  const others = options.filter((option, index) => !isListed(option, index));
  if (!listed.length) return others;
  return [
    element("optgroup", { label: "Often written" }, others),
    element("optgroup", { label: "From a published catalogue" }, listed),
  ];
}
