// The page to annotate. It reports gestures; what they mean is decided on the server, which answers with the
// rows that changed. Gestures are sent one after the other, kept until they are saved, and can be undone.
import { Sample } from "./annotate-sample.js";
import { changeKeys, keepKeys } from "./annotate-keys.js";
import { Steps } from "./annotate-steps.js";
import { Sender } from "./annotate-sender.js";
import { Effort } from "./annotate-effort.js";

const ARROWS = { ArrowUp: "parent", ArrowDown: "child", ArrowLeft: "previous", ArrowRight: "next" };
const MOVES = { j: 1, k: -1 };
const WAIT_AFTER_G = 1200;
const PATIENCE = 800; // milliseconds that accepting waits for what is proposed

const root = document.querySelector("[data-annotate]");
const told = document.querySelector("[data-told]");
const find = document.querySelector("[data-find]");
const place = `${root.dataset.site}/${root.dataset.cluster}`;
const keys = keepKeys(root.dataset);
const steps = new Steps(place);
const effort = new Effort(root.dataset);
const sender = new Sender({ onState: showSaving });

let current = begin(root.querySelector("[data-sample]"));
let waiting = null; // the next sample, loaded already
let isMoving = false;
let wanted = ""; // the sample that the rule would learn most from
let afterG = 0; // until when a key belongs to the g before it
const accepted = new Set(); // what was accepted since it was loaded: where not to go next

function say(text) {
  told.textContent = "";
  requestAnimationFrame(() => (told.textContent = text));
}

function showSaving(state, text) {
  const word = document.querySelector("[data-saving]");
  word.textContent = text;
  word.classList.toggle("text-bad", state === "failed");
}

function begin(element) {
  const sample = new Sample(element, { say, onGesture: (told) => make(sample, told), onKey: pressInFrame, onOpen: keys.show });
  keys.show(element);
  return sample;
}

// Gestures

async function make(sample, gesture, { isQuiet = false } = {}) {
  effort.tell(sample, gesture);
  const answer = await sender.send(sample.url, () => sample.complete(gesture));
  if (!answer) return null;
  sample.take(answer, gesture);
  keys.show(sample.element);
  for (const problem of answer.problems ?? []) toast(problem);
  if (answer.changes?.length) {
    steps.add({ href: sample.href, url: sample.url, changes: answer.changes });
    if (!isQuiet) say(sample.sayChanges(answer.changes));
  }
  showSteps();
  return answer;
}

async function restore(isUndo) {
  await sender.idle();
  const step = isUndo ? steps.lastDone() : steps.lastUndone();
  if (!step) return say(isUndo ? "Nothing to undo." : "Nothing to redo.");
  const answer = await sender.send(step.url, () => ({ gesture: "restore", changes: steps.wanted(step, isUndo) }));
  if (!answer) return;
  if (isUndo) effort.undone(current);
  if (isUndo) accepted.delete(step.href);
  steps.move(step, answer.changes ?? [], isUndo);
  showSteps();
  for (const conflict of answer.conflicts ?? []) toast(`${conflict.attribute || "Records"} cannot be put back: ${conflict.text}`);
  for (const problem of answer.problems ?? []) toast(problem);
  say(isUndo ? "Undone." : "Done again.");
  if (step.url === current.url) current.take(answer, null);
  else await open(step.href);
  learn();
}

function showSteps() {
  for (const button of document.querySelectorAll('[data-command="undo"]')) button.disabled = !steps.lastDone();
  for (const button of document.querySelectorAll('[data-command="redo"]')) button.disabled = !steps.lastUndone();
}

// From page to page

async function accept() {
  if (isMoving) return;
  const sample = current;
  isMoving = true; // a second key waits until the page is there
  await Promise.race([sample.prepare(), new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
  isMoving = false;
  const said = sample.proposed();
  const gesture = said.length ? { gesture: "accept", said } : null;
  if (gesture || sample.hasSaid) accepted.add(sample.href);
  const next = nextOf(sample);
  hasRecords ||= sample.hasRecords;
  const saved = gesture ? make(sample, gesture, { isQuiet: true }) : sender.idle();
  effort.done(sample);
  isLearnt = !root.dataset.rulePanel;
  if (next) await open(next);
  else sample.showDone();
  const answer = await saved;
  if (answer?.conflicts?.length && current !== sample) {
    toast(`Somebody else changed ${answer.conflicts.map(({ attribute }) => attribute).join(", ")} on the page before.`, sample.href);
  }
  learn();
}

const nextOf = ({ href, nextAddresses }) =>
  [wanted, ...nextAddresses].find((one) => one && one !== href && !accepted.has(one)) ?? "";

async function open(href, { isBack = false, attribute = "" } = {}) {
  isMoving = true;
  try {
    const next = waiting?.href === href ? waiting.sample : begin(await load(href));
    if (waiting && waiting.sample !== next) waiting.sample.leave();
    waiting = null;
    show(next, attribute);
    if (!isBack) history.pushState({}, "", href);
    prefetch();
  } catch {
    location.href = href; // the page itself says what is wrong
  } finally {
    isMoving = false;
  }
}

function show(next, attribute) {
  const before = current;
  current = next;
  next.element.classList.remove("is-waiting");
  next.element.inert = false;
  window.htmx?.process(next.element); // it came without htmx, which fetches what the frame lacks
  before.leave();
  document.title = `Annotate ${next.title} · Vertex`;
  next.begin(attribute);
  effort.opened(next);
  say(`${next.title}. ${next.words()}`);
  showHere();
  showComments();
}

async function load(href) {
  const response = await fetch(href, { headers: { "X-Part": "sample" }, cache: "no-store" });
  if (!response.ok || response.redirected) throw new Error(`${response.status}`);
  const holder = document.createElement("template");
  holder.innerHTML = await response.text();
  const element = holder.content.querySelector("[data-sample]");
  if (!element) throw new Error("no sample");
  element.classList.add("is-waiting");
  element.inert = true;
  root.prepend(element);
  return element;
}

/** Load the next sample before it is wanted; what is proposed on it waits while something is learnt. */
async function prefetch() {
  const href = nextOf(current);
  if (!href || waiting?.href === href) return;
  try {
    const element = await load(href);
    if (href === current.href || waiting?.href === href) return element.remove();
    const sample = begin(element);
    if (waiting) waiting.sample.leave();
    waiting = { href, sample };
    if (isLearnt) sample.prepare();
  } catch {
    // it is loaded when it is wanted
  }
}

function showComments() {
  const slot = document.getElementById("page-comments");
  if (!slot || !current.comments) return;
  slot.setAttribute("hx-get", current.comments);
  window.htmx?.ajax("GET", current.comments, { target: slot, swap: "innerHTML" });
}

/** Draw at their places what people said of the page. */
function drawComments(list) {
  const placed = [...list.querySelectorAll("[data-comment][data-number]")];
  current.showComments(placed.map(({ dataset }) => ({ id: dataset.comment, number: Number(dataset.number) })));
}

/** Go on with the sample that the panel names, once something is learnt. */
function followPanel(panel) {
  const link = panel.querySelector(".stop-next");
  wanted = link && "learnt" in link.dataset ? new URL(link.href).pathname : "";
  showHere();
  prefetch();
}

/** Say where the panel names the sample that is shown. */
function showHere() {
  const link = document.querySelector("#rule-panel .stop-next");
  if (link) link.classList.toggle("is-here", new URL(link.href).pathname === current.href);
}

document.addEventListener("htmx:afterSettle", ({ detail: { target } }) => {
  if (target.id === "page-comments") drawComments(target);
  if (target.id === "rule-panel") followPanel(target);
});

// The rule is learnt anew after each page, and proposes what it finds on this one and the next.
let isLearning = false;
let isStale = false;
let isLearnt = true; // from what was accepted
let hasRecords = false; // of pages accepted; then records are proposed on the others too

async function learn() {
  const url = root.dataset.rulePanel;
  if (!url) return;
  if (isLearning) {
    isStale = true;
    return;
  }
  isLearning = true;
  const panel = document.getElementById("rule-panel");
  panel.setAttribute("aria-busy", "true");
  try {
    await sender.idle();
    await window.htmx.ajax("POST", url, { target: "#rule-panel", swap: "innerHTML" });
    isLearnt = !isStale;
    await Promise.all([current, waiting?.sample].map((one) => one?.renew({ isAll: hasRecords })));
  } finally {
    isLearning = false;
    isLearnt = !isStale;
    if (isStale) {
      isStale = false;
      learn();
    } else panel.removeAttribute("aria-busy");
  }
}

// Commands

const COMMANDS = {
  accept,
  take: () => current.gestures.takeSelected(),
  absent: () => current.gestures.sayAbsent(),
  absent_rest: () => current.gestures.sayRestAbsent(),
  clear: () => current.gestures.clear(),
  like: () => current.gestures.takeAlike(),
  begin: () => current.gestures.beginRun(),
  finish: () => current.gestures.finishRun(),
  values: () => current.openNode(),
  find: () => find.focus(),
  first: () => current.gestures.takeProposal(0),
  second: () => current.gestures.takeProposal(1),
  third: () => current.gestures.takeProposal(2),
  before: () => current.before && open(current.before),
  after: () => current.after && open(current.after),
  undo: () => restore(true),
  redo: () => restore(false),
};

// A wrong value in the panel leads to its sample: in place, with its attribute chosen.
document.addEventListener("click", (event) => {
  const link = event.target.closest("#rule-panel a[href]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const address = new URL(link.href);
  if (!/\/(samples\/\d+|pages\/\d+\/annotate)\/$/.test(address.pathname)) return;
  event.preventDefault();
  const attribute = address.searchParams.get("attribute") ?? "";
  if (address.pathname === current.href) current.choose(attribute || current.active);
  else open(address.pathname, { attribute });
});

document.addEventListener("click", (event) => {
  const command = event.target.closest("[data-command]");
  if (event.detail) effort.click(current);
  if (command && !command.disabled) COMMANDS[command.dataset.command]();
  if (event.target.closest("[data-change-keys]")) changeKeys(keys);
  if (event.target.closest("[data-shows-number]")) current.showPlace(Number(event.target.closest("[data-shows-number]").dataset.showsNumber));
  if (command && event.detail) command.blur();
});

// Keys

const areOn = () => localStorage.getItem("vertex.keys") !== "off";
const isTyping = (element) => element?.matches?.("textarea, select, input:not([type=checkbox], [type=radio])");
const answersItself = (element) =>
  element?.closest?.("a[href], button, summary, select, input, textarea") && !element.closest("[data-chooses]");

function press({ key: pressed, ctrlKey, metaKey, altKey, isComposing, target }) {
  if (ctrlKey || metaKey || altKey || isComposing || !areOn()) return false;
  if (document.querySelector("dialog[open]") || isTyping(target)) return false;
  if (Date.now() < afterG || pressed === "g") {
    afterG = pressed === "g" ? Date.now() + WAIT_AFTER_G : 0;
    return false;
  }
  const key = pressed === " " ? "Space" : pressed;
  if ((key === "Enter" || key === "Space") && answersItself(target)) return false;
  const button = keys.button(key, current.element);
  if (!button && !(key in ARROWS) && !(key in MOVES)) return false;
  effort.key(current);
  if (button) button.click();
  else if (key in ARROWS) current.step(ARROWS[key]);
  else current.move(MOVES[key]);
  return true;
}

function pressInFrame({ key, shift, ctrl, alt, meta }) {
  const event = { key, shiftKey: shift, ctrlKey: ctrl, altKey: alt, metaKey: meta, target: null };
  if (!press(event)) document.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey: shift, ctrlKey: ctrl, altKey: alt, metaKey: meta, bubbles: true }));
}

document.addEventListener(
  "keydown",
  (event) => {
    if (event.isTrusted && press(event)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else if ((event.key === "Enter" || event.key === " ") && answersItself(event.target)) {
      event.stopImmediatePropagation(); // the button at hand is meant
    }
  },
  { capture: true },
);

find.addEventListener("input", () => current.find(find.value, false));
find.addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    current.find(find.value, true);
  }
  if (event.key === "Escape" || event.key === "Tab") find.blur();
});
find.addEventListener("keyup", (event) => {
  if (event.key === "Enter" && event.ctrlKey) find.blur();
});

window.addEventListener("popstate", () => open(location.pathname, { isBack: true }));
window.addEventListener("beforeunload", (event) => {
  if (sender.isWaiting) event.preventDefault();
});

function toast(text, href = "") {
  const shown = document.getElementById("toast-template").content.firstElementChild.cloneNode(true);
  shown.querySelector(".notice-text").textContent = text;
  if (href) {
    const link = document.createElement("a");
    link.href = href;
    link.className = "button button-small";
    link.textContent = "Show it";
    shown.insertBefore(link, shown.lastElementChild);
  }
  document.getElementById("toasts").append(shown);
}

showSteps();
current.begin(new URLSearchParams(location.search).get("attribute") ?? "");
effort.opened(current);
// What the page needs comes first; the panel looks at all samples.
current.prepare().then(() => document.body.dispatchEvent(new Event("sample-prepared")));
sender.resume((url, body, answer) => {
  if (answer && url === current.url) current.take(answer, body);
  for (const problem of answer?.problems ?? []) toast(problem);
});
prefetch();
