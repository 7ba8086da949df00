// A page follows the work of its site: when a job has ended, what the page shows is brought up to date in place. What
// somebody has typed, opened or selected stays, and so does the focus.
import { tell } from "./toasts.js";

// Milliseconds between two looks, while nothing is at work and while a job may end: with the time that the page itself
// takes, an outdated figure stays two seconds at most.
const EVERY = 1000;
const AT_WORK = 500;
// Parts that scripts draw, that look for news by themselves, or that are open just now.
const OWN_PARTS = "noscript, [data-map], [data-graph], [data-page-frame], [data-follows-itself], details.menu[open], dialog[open]";
const PARTS = [".page-header", ".content"];

const isField = (element) => element.matches?.("input, textarea, select");

function isTouched(field) {
  if (field === document.activeElement) return true;
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field.tagName === "SELECT") return [...field.options].some((option) => option.selected !== option.defaultSelected);
  return field.value !== field.defaultValue;
}

/** What is not the server's to say: what somebody asked for on this page, and fields that were changed. */
const isKept = (element) =>
  element.matches?.(OWN_PARTS) || "asked" in (element.dataset ?? {}) || (isField(element) && isTouched(element));

const loadsByItself = (element) => (element.getAttribute?.("hx-trigger") ?? "").startsWith("load");

const isSameThing = (here, fresh) =>
  here.nodeType === fresh.nodeType && here.nodeName === fresh.nodeName && (here.id ?? "") === (fresh.id ?? "");

function updateAttributes(here, fresh) {
  const isSelected = here.matches("tr.is-selected"); // by the reader: the server knows nothing of it
  for (const { name } of [...here.attributes]) {
    if (name === "open" || fresh.hasAttribute(name)) continue;
    here.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (name === "open" || here.getAttribute(name) === value) continue;
    here.setAttribute(name, value);
  }
  if (isSelected) here.classList.add("is-selected");
}

function updateChildren(here, fresh) {
  const byId = new Map([...here.children].filter((child) => child.id).map((child) => [child.id, child]));
  let next = here.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const known = wanted.id ? byId.get(wanted.id) : null;
    if (known && known !== next) here.insertBefore(known, next);
    const match = known ?? (next && isSameThing(next, wanted) ? next : null);
    if (!match) {
      const added = document.importNode(wanted, true);
      here.insertBefore(added, next);
      if (added.nodeType === Node.ELEMENT_NODE) window.htmx.process(added);
      continue;
    }
    if (match === next) next = next.nextSibling;
    update(match, wanted);
  }
  while (next) {
    const gone = next;
    next = next.nextSibling;
    if (gone.nodeType !== Node.ELEMENT_NODE || !isKept(gone)) gone.remove();
  }
}

/** Change an element, and below it only what differs, into what the server says now. */
function update(here, fresh) {
  if (here.isEqualNode(fresh)) return;
  if (here.nodeType !== Node.ELEMENT_NODE) {
    here.nodeValue = fresh.nodeValue;
    return;
  }
  if (isKept(here)) return;
  if (!isSameThing(here, fresh)) {
    here.replaceWith(document.importNode(fresh, true));
    return;
  }
  const asked = here.getAttribute("hx-get");
  // An answer on its way would be put in by attributes that are not there any more: as a whole page within the page.
  if (asked !== fresh.getAttribute("hx-get")) window.htmx.trigger(here, "htmx:abort");
  updateAttributes(here, fresh);
  if (loadsByItself(here)) {
    const target = { target: here, swap: here.getAttribute("hx-swap") ?? "innerHTML" };
    window.htmx.ajax("GET", here.getAttribute("hx-get"), target);
    return;
  }
  if (asked !== here.getAttribute("hx-get")) window.htmx.process(here);
  updateChildren(here, fresh);
}

async function bringUpToDate() {
  const answer = await fetch(location.href, { headers: { "X-Requested-With": "follow" } });
  if (!answer.ok || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of PARTS) {
    const [here, wanted] = [document.querySelector(part), fresh.querySelector(part)];
    if (here && wanted) update(here, wanted);
  }
  document.title = fresh.title;
  document.dispatchEvent(new CustomEvent("vertex:updated"));
}

/** Mark what somebody asked for with a click, so that it is not taken away again. */
function keepWhatWasAsked() {
  document.addEventListener("htmx:afterSettle", (event) => {
    const asker = event.detail.requestConfig?.elt;
    const isAsked = asker?.matches?.("a, button, form, input, select") && !asker.closest("[data-quiet]");
    if (isAsked && !event.detail.pathInfo?.responsePath?.startsWith(location.pathname)) event.detail.elt.dataset.asked = "";
  });
}

// The word begins with the number of jobs that have not ended. A page that was made while one ended has none.
const isAtWork = (word) => !word.startsWith("0-");

export function followWork() {
  const address = document.querySelector("[data-follows]")?.dataset.follows;
  if (!address) return;
  let known = document.querySelector("[data-follows]").dataset.followed;
  keepWhatWasAsked();
  async function look() {
    let wait = isAtWork(known) ? AT_WORK : EVERY;
    try {
      if (document.hidden) return;
      const answer = await fetch(address, { headers: { Accept: "text/plain" } });
      if (answer.redirected) tell("You are logged out. Log in again: what is shown may be old.");
      if (!answer.ok || answer.redirected) return;
      const state = await answer.text();
      if (state !== known) {
        await bringUpToDate();
        wait = 0; // a job may have ended while the page was on its way
      }
      known = state;
    } catch {
      // The server is away for a moment: the next look tells.
    } finally {
      setTimeout(look, wait);
    }
  }
  setTimeout(look, isAtWork(known) ? AT_WORK : EVERY);
}
