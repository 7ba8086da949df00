// A stored page with values lit on it: pointing at one in the list around, or opening it, shows its place.
import { PageFrame } from "../clustering/js/page_frame.js";

const place = document.querySelector("[data-lit]");
const iframe = place?.querySelector("[data-page-frame] iframe");
const marks = place ? JSON.parse(place.dataset.lit) : [];
const frame = iframe ? new PageFrame(iframe) : null;

function light(name) {
  const here = marks.find((mark) => mark.label === name);
  frame.mark(marks.map((mark) => ({ ...mark, kind: mark.label === name ? "found" : "value" })));
  if (!here) return;
  frame.show(here.number);
  place.scrollIntoView({ block: "nearest" });
}

// A card that is opened or a row that is pressed; keys typed in the frame are meant for the page around it.
if (frame) {
  frame.mark(marks);
  frame.addEventListener("ready", () => marks.length && frame.show(Math.min(...marks.map((mark) => mark.number))), { once: true });
  frame.addEventListener("key", ({ detail: { key, ctrl, alt, meta, shift } }) => {
    const options = { key, ctrlKey: ctrl, altKey: alt, metaKey: meta, shiftKey: shift, bubbles: true };
    document.body.dispatchEvent(new KeyboardEvent("keydown", options));
  });
  document.addEventListener("click", (event) => {
    const lights = event.target.closest("[data-lights]");
    if (lights) light(lights.dataset.lights);
  });
}
