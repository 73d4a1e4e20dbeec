// One rule as the registry has it, with the changes of it: standing, retired, or asked for and not published yet.

import { Problem, registry, registryItems } from "../core/client.js";

const CHANGES = 50;

/**
 * `{rule, changes, fourEyes}`: changes newest first; `rule` with `status`, null where there is none (yet). A retired one
 * has `versions`, all of them, oldest first. `fourEyes`: a second person has to approve.
 */
export async function readRule(ruleId) {
  const asked = `/changes?kind=rule&subject=${ruleId}&limit=${CHANGES}`;
  const { items: changes, fourEyes } = (await registry(asked)).body;
  if (changes.some(isUnpublished)) return { rule: null, changes, fourEyes };
  try {
    const [{ body }, statuses] = await Promise.all([
      registry(`/rules/${ruleId}`),
      registry(`/rule-status?ruleId=${ruleId}`),
    ]);
    return { rule: { ...body, status: statuses.body.items[0] ?? null }, changes, fourEyes };
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 404) throw error;
    const isRetired = error.body.type === "urn:tripline:problem:rule-deleted";
    return { rule: isRetired ? await readRetired(ruleId) : null, changes, fourEyes };
  }
}

/** A new rule that nobody has approved yet: only the change of it is there. */
function isUnpublished(change) {
  return change.kind === "PUBLISH_RULE" && isOpen(change);
}

/** Somebody may still edit it or decide it. */
export function isOpen({ state }) {
  return state === "DRAFT" || state === "SUBMITTED";
}

/** Its history stays in the log. */
async function readRetired(ruleId) {
  const [versions, purpose] = await Promise.all([
    registryItems(`/rule-events?ruleId=${ruleId}`),
    registry(`/rules/${ruleId}/purpose`),
  ]);
  const last = versions.at(-1);
  return {
    ...last,
    changedAt: last.occurredAt,
    changedBy: last.actor,
    purpose: purpose.body,
    status: null,
    versions,
  };
}
