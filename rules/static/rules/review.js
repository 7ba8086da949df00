// Judging: j and k go through the pages, the frame shows where the values stand, keys typed in it count too.
import { PageFrame } from "../clustering/js/page_frame.js";

let frame = null;

function draw() {
  frame?.close();
  frame = null;
  const place = document.querySelector("[data-judged]");
  const iframe = place?.querySelector("[data-page-frame] iframe");
  if (!iframe) return;
  frame = new PageFrame(iframe);
  const marks = JSON.parse(place.dataset.marks);
  frame.mark(marks);
  if (marks.length) frame.show(Math.min(...marks.map((mark) => mark.number)));
  frame.addEventListener("key", ({ detail }) => pass(detail));
}

// What is typed in the frame is meant for the page around it.
function pass({ key, ctrl, alt, meta, shift }) {
  const options = { key, ctrlKey: ctrl, altKey: alt, metaKey: meta, shiftKey: shift, bubbles: true };
  document.body.dispatchEvent(new KeyboardEvent("keydown", options));
}

function mark(name) {
  const place = document.querySelector("[data-judged]");
  const marks = JSON.parse(place.dataset.marks).filter((one) => one.label === name);
  if (frame && marks.length) frame.show(marks[0].number);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || localStorage.getItem("vertex.keys") === "off") return;
  if (event.target.matches?.("input:not([type=checkbox]), textarea, select")) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "j") document.querySelector("[data-judge-next]")?.click();
  if (event.key === "k") document.querySelector("[data-judge-previous]")?.click();
});
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-judged] input[name=marked]")) mark(event.target.value);
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id === "judging" || event.target.querySelector?.("#judging")) draw();
});
draw();
