// The second annotation: the field at hand takes what is clicked in the page, or the text that is dragged over.
import { PageFrame } from "../clustering/js/page_frame.js";

const root = document.querySelector("[data-again]");

function listen() {
  let field = null; // the one at hand
  const frame = new PageFrame(root.querySelector("[data-page-frame] iframe"));
  const inputs = () => [...root.querySelectorAll("input[type=text]")];

  function choose(input) {
    for (const line of root.querySelectorAll(".second-field")) line.classList.remove("is-current");
    field = input;
    field?.closest(".second-field").classList.add("is-current");
  }

  choose(inputs()[0]);
  root.addEventListener("focusin", (event) => {
    if (event.target.matches("input[type=text]")) choose(event.target);
  });
  root.addEventListener("input", (event) => {
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

if (root) listen();
