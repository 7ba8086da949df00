// Says where in the page the pointer is, in words.
import { PageFrame } from "./page_frame.js";

const frame = new PageFrame(document.querySelector("[data-page-frame] iframe"));
const words = document.querySelector("[data-frame-path]");

frame.addEventListener("hover", ({ detail: { path } }) => {
  words.textContent = path.map(({ name }) => name).join(" › ") || "\u00a0";
});
frame.addEventListener("take", ({ detail: { number } }) => frame.select(number));
