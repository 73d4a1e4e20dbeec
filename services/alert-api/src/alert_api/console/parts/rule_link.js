// The way to the page of a rule.

/** Attributes of a link to the rule of an alert, at the version that raised it. */
export function ruleLink({ ruleId, ruleVersion }) {
  return { href: `/rules/${ruleId}?version=${ruleVersion}`, "data-go": true };
}
