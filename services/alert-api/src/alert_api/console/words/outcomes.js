// What cases turn out to be, and what that is called.

export const OUTCOMES = [
  ["confirmed_fraud", "Confirmed fraud"],
  ["false_positive", "False positive"],
  ["known_accepted", "Known and accepted"],
  ["inconclusive", "Inconclusive"],
];

export function outcomeName(outcome) {
  return OUTCOMES.find(([value]) => value === outcome)?.[1].toLowerCase() ?? outcome;
}
