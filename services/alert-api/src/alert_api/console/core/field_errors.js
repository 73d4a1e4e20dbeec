// What is wrong with a form, said at each field.

import { element, setText } from "./dom.js";

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
  const chosen = form.querySelector(".wrong input[type=radio]:checked");
  (chosen ?? form.querySelector(".wrong input, .wrong select, .wrong textarea"))?.focus();
  return rest;
}

/** Says what is wrong with one field, at it. */
export function markField(form, input, message) {
  markFields(form, [{ field: input.id, message }], () => partOf(input));
  announce(form);
}

/** Says why a form was refused: at the fields whose inputs are named, and in `rest` what has no place there. */
export function markRefusal(form, error, inputs, rest) {
  const errors = error.body?.errors ?? [];
  const sentences = markFields(form, errors, (field) => partOf(inputs[field.split(".")[0]]));
  setText(rest, errors.length ? sentences.join(" ") : error.message);
  announce(form);
}

/** What went wrong, in words. */
export function trouble(error) {
  return error.body?.errors?.map(({ field, message }) => `${field}: ${message}`).join("; ") || error.message;
}

function partOf(input) {
  return input?.closest(".field, fieldset");
}

function announce(form) {
  form.querySelector(".field-error")?.setAttribute("role", "alert");
}
