// The second annotation: the field at hand takes what is clicked in the page, or the text that is dragged over.
import { PageFrame } from "../clustering/js/page_frame.js";

const place = document.querySelector("[data-again]");
let field = null;

function choose(input) {
  for (const one of place.querySelectorAll(".second-field")) one.classList.remove("is-current");
  field = input;
  field?.closest(".second-field").classList.add("is-current");
}

function inputs() {
  return [...place.querySelectorAll("input[type=text]")];
}

if (place) {
  const frame = new PageFrame(place.querySelector("[data-page-frame] iframe"));
  choose(inputs()[0]);
  place.addEventListener("focusin", (event) => {
    if (event.target.matches("input[type=text]")) choose(event.target);
  });
  place.addEventListener("input", (event) => {
    const number = event.target.previousElementSibling;
    if (event.target.matches("input[type=text]") && number?.type === "hidden") number.value = "";
  });
  frame.addEventListener("take", ({ detail }) => {
    if (!field) return;
    field.value = detail.text?.quote ?? "";
    const isOneElement = !detail.text || detail.text.number === detail.text.endNumber;
    field.previousElementSibling.value = isOneElement ? String(detail.text?.number ?? detail.number) : "";
    if (!field.value) field.placeholder = `the whole element ${detail.number}`;
    frame.mark([{ id: field.id, kind: "value", number: detail.number, label: field.name.slice(5) }]);
    const all = inputs();
    choose(all[all.indexOf(field) + 1] ?? field);
  });
  frame.addEventListener("key", ({ detail }) => {
    const options = { key: detail.key, ctrlKey: detail.ctrl, altKey: detail.alt, metaKey: detail.meta, bubbles: true };
    document.body.dispatchEvent(new KeyboardEvent("keydown", options));
  });
}
