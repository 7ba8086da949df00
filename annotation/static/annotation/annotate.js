// The page to annotate. It reports gestures; what they mean is decided on the server, which answers with the
// rows that changed. Gestures are sent one after the other, kept until they are saved, and can be undone.
import { showToast } from "../core/js/toasts.js";
import { Effort } from "./annotate-effort.js";
import { changeKeys, keepKeys, KeyPresses } from "./annotate-keys.js";
import { Route } from "./annotate-route.js";
import { RuleSoFar } from "./annotate-rule.js";
import { Sample } from "./annotate-sample.js";
import { Sender } from "./annotate-sender.js";
import { Steps } from "./annotate-steps.js";

const PROPOSALS_TIMEOUT = 800; // milliseconds that accepting waits for what is proposed, and for what is being saved

const root = document.querySelector("[data-annotate]");
const status = document.querySelector("[data-status]");
const find = document.querySelector("[data-find]");
const keys = keepKeys(root.dataset);
const steps = new Steps(`${root.dataset.site}/${root.dataset.cluster}`);
const effort = new Effort(root.dataset);
const sender = new Sender({ onState: showSaving });
const route = new Route(root, { begin, onShow, mayPrepare: () => rule.isLearnt });
const rule = new RuleSoFar(root.dataset.rulePanel, {
  idle: () => sender.idle(),
  samples: () => [route.current, route.next?.sample].filter(Boolean),
});
const presses = new KeyPresses(keys, {
  sample: () => route.current,
  onUse: (sample) => effort.key(sample),
});

function say(text) {
  status.textContent = "";
  requestAnimationFrame(() => (status.textContent = text));
}

function showSaving(state, text) {
  const word = document.querySelector("[data-saving]");
  word.textContent = text;
  word.classList.toggle("text-bad", state === "failed");
}

function begin(element) {
  const sample = new Sample(element, {
    say,
    onGesture: (gesture) => make(sample, gesture),
    onKey: (event) => presses.pressInFrame(event),
  });
  keys.show(element);
  return sample;
}

function onShow(sample) {
  effort.opened(sample);
  say(`${sample.title}. ${sample.words()}`);
  showComments();
}

// Gestures

async function make(sample, gesture, { isQuiet = false } = {}) {
  effort.tell(sample, gesture);
  const answer = await sender.send(sample.url, () => sample.complete(gesture));
  if (!answer) return null;
  sample.take(answer, gesture);
  keys.show(sample.element);
  for (const problem of answer.problems ?? []) showToast(problem);
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
  if (isUndo) effort.undone(route.current);
  if (isUndo) route.undoAccept(step.href);
  steps.move(step, answer.changes ?? [], isUndo);
  showSteps();
  for (const { attribute, text } of answer.conflicts ?? []) showToast(`${attribute || "Records"} cannot be put back: ${text}`);
  for (const problem of answer.problems ?? []) showToast(problem);
  say(isUndo ? "Undone." : "Done again.");
  if (step.url === route.current.url) route.current.take(answer, null);
  else await route.open(step.href);
  rule.learn();
}

function showSteps() {
  for (const button of document.querySelectorAll('[data-command="undo"]')) button.disabled = !steps.lastDone();
  for (const button of document.querySelectorAll('[data-command="redo"]')) button.disabled = !steps.lastUndone();
}

/** Accept what is proposed on the page and go on to the next one. */
async function accept() {
  if (route.isMoving) return;
  const sample = route.current;
  const timeout = new Promise((resolve) => setTimeout(resolve, PROPOSALS_TIMEOUT));
  const isKnown = Promise.all([sample.prepare(), sender.idle()]);
  await route.hold(Promise.race([isKnown, timeout])); // a second key waits until the page is there
  const annotations = sample.proposed();
  const gesture = annotations.length ? { gesture: "accept", annotations } : null;
  if (!gesture && !sample.isPrepared) {
    showToast("Nothing was accepted there: what is proposed was still on its way.", { href: sample.href });
  }
  if (gesture || sample.isAnnotated) route.accept(sample.href);
  const next = route.after(sample);
  rule.hasRecords ||= sample.hasRecords;
  const saved = gesture ? make(sample, gesture, { isQuiet: true }) : sender.idle();
  effort.done(sample);
  rule.outdate();
  if (next) await route.open(next);
  else sample.showDone();
  const answer = await saved;
  if (answer?.conflicts?.length && route.current !== sample) {
    const names = answer.conflicts.map(({ attribute }) => attribute).join(", ");
    showToast(`Somebody else changed ${names} on the page before.`, { href: sample.href });
  }
  rule.learn();
}

// Comments

function showComments() {
  const slot = document.getElementById("page-comments");
  const url = route.current.comments;
  if (!slot || !url) return;
  slot.setAttribute("hx-get", url);
  window.htmx?.ajax("GET", url, { target: slot, swap: "innerHTML" });
}

/** Draw the comments on the page, each at its element. */
function drawComments(list) {
  const placed = [...list.querySelectorAll("[data-comment][data-number]")];
  route.current.showComments(placed.map(({ dataset }) => ({ id: dataset.comment, number: Number(dataset.number) })));
}

document.addEventListener("htmx:afterSettle", ({ detail: { target } }) => {
  if (target.id === "page-comments") drawComments(target);
  if (target.id === "rule-panel") route.follow(target);
});

// Commands

const COMMANDS = {
  accept,
  take: () => route.current.gestures.takeSelected(),
  absent: () => route.current.gestures.markAbsent(),
  absent_rest: () => route.current.gestures.markRestAbsent(),
  clear: () => route.current.gestures.clear(),
  like: () => route.current.gestures.takeAlike(),
  begin: () => route.current.gestures.beginRun(),
  finish: () => route.current.gestures.finishRun(),
  values: () => route.current.openNode(),
  find: () => find.focus(),
  first: () => route.current.gestures.takeProposal(0),
  second: () => route.current.gestures.takeProposal(1),
  third: () => route.current.gestures.takeProposal(2),
  before: () => route.current.before && route.open(route.current.before),
  after: () => route.current.after && route.open(route.current.after),
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
  if (address.pathname === route.current.href) route.current.choose(attribute || route.current.active);
  else route.open(address.pathname, { attribute });
});

document.addEventListener("click", (event) => {
  const command = event.target.closest("[data-command]");
  const shows = event.target.closest("[data-shows-number]");
  if (event.detail) effort.click(route.current);
  if (command && !command.disabled) COMMANDS[command.dataset.command]();
  if (event.target.closest("[data-change-keys]")) changeKeys(keys);
  if (shows) route.current.showPlace(Number(shows.dataset.showsNumber));
  if (command && event.detail) command.blur();
});

find.addEventListener("input", () => route.current.find(find.value, false));
find.addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    route.current.find(find.value, true);
  }
  if (event.key === "Escape" || event.key === "Tab") find.blur();
});
find.addEventListener("keyup", (event) => {
  if (event.key === "Enter" && event.ctrlKey) find.blur();
});

window.addEventListener("popstate", () => route.open(location.pathname, { isBack: true }));
window.addEventListener("beforeunload", (event) => {
  if (sender.isWaiting) event.preventDefault();
});

presses.listen();
showSteps();
route.current.begin(new URLSearchParams(location.search).get("attribute") ?? "");
effort.opened(route.current);
// What the page needs comes first; the panel looks at all samples. It listens once htmx has seen the page.
const isSeen = new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
Promise.all([route.current.prepare(), isSeen]).then(() => document.body.dispatchEvent(new Event("sample-prepared")));
sender.resume((url, body, answer) => {
  if (answer && url === route.current.url) route.current.take(answer, body);
  for (const problem of answer?.problems ?? []) showToast(problem);
});
route.prefetch();
