// What is wrong with a form, said at each field.

import { element } from "./dom.js";

/**
 * Says each error at the part of the form that `partOf(field)` gives; gives sentences for those that have no
 * place.
 */
export function markFields(form, errors, partOf) {
  for (const old of form.querySelectorAll(".field-error")) old.remove();
  for (const part of form.querySelectorAll(".wrong")) part.classList.remove("wrong");
  const rest = [];
  for (const { field, message } of errors) {
    const part = partOf(field);
    if (!part) rest.push(`${field}: ${message}`);
    else {
      part.closest("details")?.setAttribute("open", "");
      part.classList.add("wrong");
      part.append(element("p", { class: "error field-error" }, message));
    }
  }
  form.querySelector(".wrong input, .wrong select, .wrong textarea")?.focus();
  return rest;
}

/** Says what is wrong with one field, at it. */
export function markField(form, input, message) {
  markFields(form, [{ field: input.id, message }], () => input.closest(".field, fieldset"));
  form.querySelector(".field-error").setAttribute("role", "alert");
}
