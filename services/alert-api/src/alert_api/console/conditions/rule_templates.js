// Where to begin: a blank rule of what is judged here, and rules that people write again and again.

import { FIRST_KEY, MEASURES, TEMPLATES as DECLARED } from "../core/event_type.js";

const none = { filter: null, firing: "every", resetOnAlert: false, lateEvents: "evaluate" };
const [MEASURE = null] = MEASURES;

/** What a condition begins as. */
export const FIRST_CONDITION = {
  groupingKeyNames: [FIRST_KEY],
  aggregatorFunctionType: MEASURE ? "SUM" : "COUNT",
  aggregateFieldName: MEASURE,
  limitOperatorType: ">",
  limit: "",
  windowSeconds: 3600,
};

/** And a rule of one condition. */
export const BLANK = { name: "", ...FIRST_CONDITION, ...none };

export const TEMPLATES = DECLARED.map(({ templateId, title, explanation, definition, catalogue }) => ({
  templateId,
  title,
  catalogue,
  explanation,
  definition: definition.conditions ? { ...none, ...definition } : { ...BLANK, ...definition },
}));
