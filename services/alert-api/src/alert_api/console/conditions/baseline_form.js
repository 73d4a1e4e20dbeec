// A limit that is measured, as a form: so many times another measure, a number more, and deviations of an average.

import { AGGREGATE_MEMBERS, AggregateForm, fitsAggregate } from "./aggregate_form.js";
import { element } from "../core/dom.js";
import { MANY } from "../core/event_type.js";
import { FilterForm } from "./filter_form.js";
import { fitsNumber, NumberInput } from "./number_input.js";

const MONTH = 30 * 86400;
const LIMIT_MEMBERS = ["measure", "times", "plus", "plusDeviations"];
const MEMBERS = [...AGGREGATE_MEMBERS, "filter"];
const OF_AMOUNTS = ["SUM", "AVG", "MIN", "MAX"];

export class BaselineForm {
  /** `limit` fits; the measure may leave its grouping to the condition, which is `grouping` while this is made. */
  constructor(id, limit, grouping) {
    const { measure, times = "1", plus = "0", plusDeviations } = limit;
    this.times = new NumberInput("times", "Times", times);
    this.plus = new NumberInput("plus", "Plus", plus);
    this.deviations = new NumberInput("plusDeviations", "Deviations", plusDeviations ?? "", {
      optional: true,
    });
    this.measured = new AggregateForm(id, { excerpt: true });
    this.same = element("input", { type: "checkbox", on: { change: () => this.adapt() } });
    this.filter = new FilterForm({ id: `${id}-filter` });
    this.element = this.build(Boolean(measure.filter));
    const groups = measure.groupingKeyNames ?? grouping;
    this.measured.write({ ...measure, groupingKeyNames: groups });
    this.same.checked = isSame(groups, grouping);
    this.filter.write(measure.filter ?? null);
    this.adapt();
  }

  build(isFiltered) {
    this.scatter = element(
      "div",
      { class: "share" },
      element("span", {}, "plus"),
      this.deviations.element,
      element("span", {}, "of its standard deviations"),
    );
    return element(
      "fieldset",
      { class: "group baseline", dataset: { field: "measure" }, on: { change: () => this.adapt() } },
      element("legend", {}, "Measured against"),
      element("div", { class: "share" }, this.times.element, element("span", {}, "\u00d7")),
      this.measured.row,
      this.measured.window,
      this.measured.excerpt.element,
      element("label", { class: "check" }, this.same, " in the same group as the condition"),
      this.measured.grouping,
      element(
        "details",
        { open: isFiltered },
        element("summary", {}, `Measured of some of the ${MANY} alone`),
        this.filter.element,
      ),
      element("div", { class: "share" }, element("span", {}, "plus"), this.plus.element),
      this.scatter,
    );
  }

  adapt() {
    this.measured.grouping.hidden = this.same.checked;
    this.scatter.hidden = !this.isAverage;
  }

  /** Only an average has deviations besides. */
  get isAverage() {
    return this.measured.kind.value === "AVG";
  }

  /** The limit as the registry takes it. */
  read() {
    const { groupingKeyNames, ...measure } = this.measured.read();
    const filter = this.filter.read();
    return {
      measure: {
        ...(this.same.checked ? {} : { groupingKeyNames }),
        ...measure,
        ...(filter === null ? {} : { filter }),
      },
      times: this.times.read(),
      plus: this.plus.read(),
      ...(this.isAverage && !this.deviations.isOpen ? { plusDeviations: this.deviations.read() } : {}),
    };
  }

  /** What cannot even be sent, the fields as below the condition: `[{field, message}]`. */
  problems() {
    return [
      ...this.times.problems("limit"),
      ...this.plus.problems("limit"),
      ...this.measured.problems().map(({ field, message }) => ({ field: `limit.measure.${field}`, message })),
    ];
  }

  /** Where to say what is wrong with a member of the limit, such as `times` or `measure.windowSeconds`. */
  place(path) {
    const [member, inner] = path.split(/[.[]/);
    const field = member === "measure" && inner ? inner : member;
    return this.element.querySelector(`[data-field="${CSS.escape(field)}"]`) ?? this.element;
  }
}

/** What a condition is held against first: three times its own average of the month before its window. */
export function firstLimit({ aggregatorFunctionType, aggregateFieldName, windowSeconds }) {
  const ofAmounts = OF_AMOUNTS.includes(aggregatorFunctionType);
  const measure = {
    aggregatorFunctionType: ofAmounts ? "AVG" : "COUNT",
    aggregateFieldName: ofAmounts ? aggregateFieldName : null,
    windowSeconds: MONTH,
    offsetSeconds: windowSeconds || 86400,
    minimumCount: 5,
  };
  return { measure, times: "3", plus: "0" };
}

/** Whether it is a limit that the form has a place for, beside a condition of that grouping. */
export function fitsRelative(limit, grouping) {
  const { measure, times = "1", plus = "0", plusDeviations = null } = limit;
  return Object.keys(limit).every((name) => LIMIT_MEMBERS.includes(name)) &&
    typeof measure === "object" && measure !== null &&
    Object.keys(measure).every((name) => MEMBERS.includes(name)) &&
    typeof (measure.filter ?? null) === "object" && fitsNumber(times) && fitsNumber(plus) &&
    (plusDeviations === null || (fitsNumber(plusDeviations) && measure.aggregatorFunctionType === "AVG")) &&
    fitsAggregate({ groupingKeyNames: grouping, ...measure });
}

function isSame(one, other) {
  const [first, second] = [one, other].map((keys) => keys.map((key) => JSON.stringify(key)).sort().join());
  return first === second;
}
