// What every page has: keys, the folding rail, the choice of colours, toasts, copying, columns.
import { listenToKeys } from "./keys.js";
import { watchToasts } from "./toasts.js";
import { keepColumns } from "./columns.js";
import { followWork } from "./follow.js";

const THEMES = ["system", "light", "dark"];

function currentTheme() {
  return document.documentElement.dataset.theme ?? "system";
}

function showTheme(theme) {
  for (const word of document.querySelectorAll("[data-theme-word]")) {
    word.textContent = { system: "System colours", light: "Light", dark: "Dark" }[theme];
  }
}

function changeTheme() {
  const next = THEMES[(THEMES.indexOf(currentTheme()) + 1) % THEMES.length];
  if (next === "system") {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem("vertex.theme");
  } else {
    document.documentElement.dataset.theme = next;
    localStorage.setItem("vertex.theme", next);
  }
  showTheme(next);
}

function foldRail(button) {
  const isOpen = document.querySelector(".rail").classList.toggle("is-open");
  button.setAttribute("aria-expanded", isOpen);
}

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    copyBySelection(button.dataset.copy);
  }
  button.classList.add("is-copied");
  button.querySelector("use")?.setAttribute("href", "#icon-check");
  setTimeout(() => {
    button.classList.remove("is-copied");
    button.querySelector("use")?.setAttribute("href", "#icon-copy");
  }, 1200);
}

// The clipboard is closed to pages that come over plain HTTP from another machine.
function copyBySelection(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "hidden-text";
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

function closeOtherMenus(target) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(target)) menu.open = false;
  }
}

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-copy], [data-rail-fold], [data-theme-change]");
  closeOtherMenus(event.target);
  if (!target) return;
  if ("copy" in target.dataset) copy(target);
  if ("railFold" in target.dataset) foldRail(target);
  if ("themeChange" in target.dataset) changeTheme();
});

// A form that was sent is not sent twice by an impatient click.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.classList.contains("is-sent")) event.preventDefault();
  form.classList.add("is-sent");
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form.is-sent")) form.classList.remove("is-sent");
});

// A select that narrows a list takes effect when it changes.
document.addEventListener("change", (event) => {
  if (event.target.matches("select[data-narrows]")) event.target.form.requestSubmit();
});

let nWaiting = 0;
function showWaiting(change, event) {
  if (event.detail.elt.hasAttribute("data-quiet")) return;
  nWaiting = Math.max(0, nWaiting + change);
  document.querySelector(".loading-line")?.classList.toggle("is-on", nWaiting > 0);
}
document.addEventListener("htmx:beforeRequest", (event) => showWaiting(1, event));
document.addEventListener("htmx:afterRequest", (event) => showWaiting(-1, event));

showTheme(currentTheme());
listenToKeys();
watchToasts();
keepColumns();
followWork();
