// Both pages scroll together; the value at hand is lit on both; keys pass through the frames.
import { PageFrame } from "../clustering/js/page_frame.js";

const frames = {};
let current = "";

const repair = () => document.getElementById("repair");
const rows = () => [...document.querySelectorAll("#repair tr[data-value]")];
const rowOf = (name) => rows().find((row) => row.dataset.value === name);

function begin() {
  for (const side of ["old", "new"]) {
    const iframe = document.querySelector(`[data-side="${side}"] [data-page-frame] iframe`);
    if (!iframe) continue;
    frames[side] = new PageFrame(iframe);
    frames[side].addEventListener("scroll", ({ detail }) => follow(side, detail));
    frames[side].addEventListener("key", ({ detail }) => pass(detail));
    frames[side].addEventListener("ready", () => light(side));
  }
  choose(repair()?.dataset.current || rows()[0]?.dataset.value || "");
}

/** Let the other page go along where the reader scrolls; one that was told to scroll pulls nothing along. */
function follow(side, { top, height, viewport, isOrdered }) {
  if (isOrdered || height <= viewport) return;
  const other = side === "old" ? "new" : "old";
  frames[other]?.scrollTo({ ratio: top / (height - viewport) });
}

function light(side) {
  const marks = JSON.parse(repair()?.dataset.marks || "{}")[side] ?? [];
  const lit = { old: "lost", new: "found" }[side];
  const drawn = marks.map((mark) => ({ ...mark, kind: mark.label === current ? lit : "comment" }));
  frames[side]?.mark(drawn);
  const here = drawn.find((mark) => mark.label === current);
  if (here) frames[side]?.show(here.number);
}

function choose(name) {
  current = name;
  for (const row of rows()) {
    const isHere = row.dataset.value === name;
    row.classList.toggle("is-selected", isHere);
    row.toggleAttribute("aria-selected", isHere);
    if (isHere) row.setAttribute("aria-selected", "true");
  }
  for (const button of document.querySelectorAll("[data-says]")) button.disabled = !formOf(name);
  light("old");
  light("new");
}

const formOf = (name) => (rowOf(name)?.dataset.open === "yes" ? rowOf(name).querySelector("form[data-decide]") : null);

function move(step) {
  const all = rows();
  const at = all.findIndex((row) => row.dataset.value === current);
  const to = all[Math.min(all.length - 1, Math.max(0, at + step))];
  if (to) choose(to.dataset.value);
}

function say(said) {
  formOf(current)?.querySelector(`button[value="${said}"]`)?.click();
}

// What is typed in a frame is meant for the page around it.
function pass({ key, ctrl, alt, meta, shift }) {
  const options = { key, ctrlKey: ctrl, altKey: alt, metaKey: meta, shiftKey: shift, bubbles: true };
  document.body.dispatchEvent(new KeyboardEvent("keydown", options));
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || localStorage.getItem("vertex.keys") === "off") return;
  if (event.target.closest?.("input, textarea, select, dialog") || document.querySelector("dialog[open]")) return;
  // On a button or a link Enter does what it says.
  if (event.key === "Enter" && !event.target.closest?.("a, button, summary")) {
    event.preventDefault();
    say("confirmed");
  }
  if (event.key === "j") move(1);
  if (event.key === "k") move(-1);
});
document.addEventListener("click", (event) => {
  const pick = event.target.closest("[data-pick]");
  const says = event.target.closest("[data-says]");
  if (pick) choose(pick.dataset.pick);
  if (says) say(says.dataset.says);
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id === "repair") choose(event.target.dataset.current || current);
});
begin();
