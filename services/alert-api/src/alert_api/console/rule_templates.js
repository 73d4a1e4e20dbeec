// Where to begin: rules that people write again and again.

const none = { filter: null, firing: "every", resetOnAlert: false, lateEvents: "evaluate" };

/** What a condition begins as. */
export const FIRST_CONDITION = {
  groupingKeyNames: ["payeeId"], aggregatorFunctionType: "SUM", aggregateFieldName: "paymentAmount", limitOperatorType: ">", limit: "",
  windowSeconds: 3600,
};

/** And a rule of one condition. */
export const BLANK = { name: "", ...FIRST_CONDITION, ...none };

export const TEMPLATES = [
  { title: "Large sum to one beneficiary", definition: { ...BLANK, name: "Much from one payer to one beneficiary within a day",
    groupingKeyNames: ["payeeId", "beneficiaryId"], limit: "200000", windowSeconds: 86400 } },
  { title: "Many payments in a hurry", definition: { ...BLANK, name: "More than 30 payments by one payer within a minute",
    aggregatorFunctionType: "COUNT", aggregateFieldName: null, limit: "30", windowSeconds: 60, firing: "crossing" } },
  { title: "Money mule", definition: { ...BLANK, name: "Much to one beneficiary within five minutes, whoever pays",
    groupingKeyNames: ["beneficiaryId"], limit: "40000", windowSeconds: 300 } },
  { title: "Many payers to one", definition: { ...BLANK, name: "More than 20 different payers to one beneficiary within an hour",
    groupingKeyNames: ["beneficiaryId"], aggregatorFunctionType: "COUNT_DISTINCT", aggregateFieldName: "payeeId", limit: "20",
    cooldownSeconds: 3600 } },
  { title: "Much and to many", definition: { name: "More than 5,000 from one payer to more than three beneficiaries within an hour", ...none,
    firing: "crossing", conditions: { all: [{ ...FIRST_CONDITION, limit: "5000" },
      { ...FIRST_CONDITION, aggregatorFunctionType: "COUNT_DISTINCT", aggregateFieldName: "beneficiaryId", limit: "3" }] } } },
  { title: "Card testing", definition: { ...BLANK, name: "Many tiny card payments by one payer within a minute",
    aggregatorFunctionType: "COUNT", aggregateFieldName: null, limit: "20", windowSeconds: 60,
    filter: { all: [{ field: "paymentType", operator: "=", value: "CRD" }, { field: "paymentAmount", operator: "<=", value: "5" }] } } },
  { title: "One big payment", definition: { ...BLANK, name: "A single payment of more than 10,000",
    aggregatorFunctionType: "MAX", limit: "10000", windowSeconds: 60 } },
  { title: "Everything at once", definition: { ...BLANK, name: "More than a million in cash within an hour, over all payers",
    groupingKeyNames: [], limit: "1000000", windowSeconds: 3600, firing: "crossing",
    filter: { all: [{ field: "paymentType", operator: "=", value: "CSH" }] } } },
];
