// Keys work the same on every page: an element names its key with data-key, a table its rows with data-row.
const WAIT_AFTER_G = 3000; // milliseconds between two presses; some people take their time

let pressedGAt = -Infinity;

/** Whether a key belongs to the g before it. Times are those of the presses: a busy page may hear of them late. */
export const isAfterG = (pressedAt) => pressedAt - pressedGAt < WAIT_AFTER_G;

export const isTyping = (element) =>
  element?.isContentEditable ||
  element?.matches?.("textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit])");

export const areSingleKeysOn = () => localStorage.getItem("vertex.keys") !== "off";

const byKey = (key) =>
  [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].find(
    (element) => !element.disabled && (element.checkVisibility() || key.startsWith("g ")),
  );

const rows = () => [...document.querySelectorAll("table[data-rows] tbody tr")].filter((row) => row.checkVisibility());

const selectedRow = () => document.querySelector("table[data-rows] tr.is-selected");

export function selectRow(row) {
  selectedRow()?.classList.remove("is-selected");
  selectedRow()?.removeAttribute("aria-selected");
  if (!row) return;
  row.classList.add("is-selected");
  row.scrollIntoView({ block: "nearest" });
  const link = row.querySelector("a[href]");
  (link ?? row).focus({ preventScroll: true });
}

function move(step) {
  const all = rows();
  const at = all.indexOf(selectedRow() ?? document.activeElement?.closest?.("tr"));
  const to = at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step));
  selectRow(all[to]);
}

function use(element) {
  if (element.matches("input:not([type=checkbox]), textarea, select")) {
    element.focus();
    element.select?.();
  } else {
    element.click();
  }
}

function stepOut() {
  const menu = document.querySelector("details.menu[open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  } else if (isTyping(document.activeElement)) {
    document.activeElement.blur();
  } else if (selectedRow()) {
    selectRow(null);
    document.activeElement?.blur();
  } else {
    document.querySelector(".toast [data-close]")?.click();
  }
}

function showKeys() {
  const dialog = document.getElementById("keys");
  const own = dialog.querySelector("[data-own-keys]");
  own.replaceChildren();
  for (const element of document.querySelectorAll("[data-key]:not([data-key^='g '])")) {
    if (element.closest("dialog") || !element.checkVisibility()) continue;
    if (byKey(element.dataset.key) !== element) continue; // another element has the key
    const word = element.dataset.keyWord ?? element.getAttribute("aria-label") ?? element.textContent;
    own.append(named("dt", element.dataset.key, true), named("dd", word.trim().replace(/\s+/g, " ")));
  }
  dialog.querySelector("[data-own-heading]").hidden = !own.children.length;
  dialog.querySelector("[data-row-keys]").hidden = !rows().length;
  dialog.querySelector("[data-single-keys]").checked = areSingleKeysOn();
  dialog.showModal();
}

function named(tag, text, isKey = false) {
  const element = document.createElement(tag);
  if (isKey) {
    const key = document.createElement("kbd");
    key.textContent = text;
    element.append(key);
  } else {
    element.textContent = text;
  }
  return element;
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const isInDialog = document.querySelector("dialog[open]");
  if (event.key === "Escape" && !isInDialog) return stepOut();
  if (isInDialog || isTyping(event.target) || !areSingleKeysOn()) return;
  const key = isAfterG(event.timeStamp) ? `g ${event.key}` : event.key;
  pressedGAt = key === "g" ? event.timeStamp : -Infinity;
  if (key === "?") showKeys();
  else if (key === "j") move(1);
  else if (key === "k") move(-1);
  else if (byKey(key)) event.repeat || use(byKey(key)); // a key held down decides once
  else if (key !== "g") return;
  event.preventDefault();
}

const controls = (part) => [...part.querySelectorAll("a[href], button, input, select, textarea, summary")];

/** How the control that has the focus is found again: its number in the nearest part of the page with an id. */
function placeOfFocus() {
  const part = document.activeElement?.closest("[id]");
  return part ? { id: part.id, number: controls(part).indexOf(document.activeElement) } : null;
}

// A list that was drawn anew keeps the selected row, and the keyboard its place. Settling puts back the attributes
// that came from the server, so the row is marked after it.
function keepPlace() {
  let row = "";
  let focus = null;
  document.addEventListener("htmx:beforeSwap", () => {
    row = selectedRow()?.id ?? "";
    focus = placeOfFocus();
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (row && !selectedRow()) document.getElementById(row)?.classList.add("is-selected");
    const isLost = focus !== null && document.activeElement === document.body;
    const part = isLost ? document.getElementById(focus.id) : null;
    if (part) controls(part)[focus.number]?.focus({ preventScroll: true });
  });
}

export function listenToKeys() {
  document.addEventListener("keydown", press);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-show-keys]")) showKeys();
    if (event.target.closest("[data-close-dialog]")) event.target.closest("dialog").close();
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-single-keys]")) {
      localStorage.setItem("vertex.keys", event.target.checked ? "on" : "off");
    }
  });
  keepPlace();
}
