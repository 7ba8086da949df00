// Selects pages of a cluster by mouse and keys, and says what will be moved.
const form = () => document.querySelector("form[data-select-rows]");
const boxes = () => [...document.querySelectorAll("[data-pick]")];

let last = null;

function show() {
  const bar = document.querySelector(".move-bar");
  if (!bar) return;
  const picked = boxes().filter((box) => box.checked);
  for (const box of boxes()) box.closest("tr").classList.toggle("is-picked", box.checked);
  const all = document.querySelector("[data-pick-all]");
  all.checked = picked.length > 0 && picked.length === boxes().length;
  all.indeterminate = picked.length > 0 && !all.checked;
  bar.classList.toggle("is-ready", picked.length > 0);
  const word = picked.length === 1 ? "page" : "pages";
  bar.querySelector("[data-count]").textContent = picked.length
    ? `${picked.length} ${word} selected`
    : "Select pages to move them.";
  bar.querySelector("[data-move]").disabled = !picked.length;
  const isNew = form().elements.to.value === "";
  const title = bar.querySelector("[data-new-title]");
  title.hidden = !isNew;
  title.required = isNew && picked.length > 0;
}

function pick(box, isChecked) {
  box.checked = isChecked;
  last = box;
  show();
}

function toggleRow() {
  const row = document.querySelector("table[data-rows] tr.is-selected") ?? document.activeElement?.closest("tr");
  const box = row?.querySelector("[data-pick]");
  if (box) pick(box, !box.checked);
}

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-pick-all]")) for (const box of boxes()) box.checked = event.target.checked;
  if (event.target.closest("form[data-select-rows]")) show();
});

// With Shift, a click picks all from the last one on.
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-toggle-row]")) toggleRow();
  if (!event.target.matches("[data-pick]")) return;
  if (event.shiftKey && last) {
    const all = boxes();
    const [from, to] = [all.indexOf(last), all.indexOf(event.target)].sort((a, b) => a - b);
    for (const box of all.slice(from, to + 1)) box.checked = event.target.checked;
  }
  last = event.target;
  show();
});
document.addEventListener("htmx:afterSettle", show);

function showResult() {
  const isAtWork = () => Boolean(document.querySelector("#work .working"));
  let was = isAtWork();
  document.addEventListener("htmx:afterSettle", () => {
    if (was && !isAtWork()) location.reload();
    was = isAtWork();
  });
}

show();
showResult();
