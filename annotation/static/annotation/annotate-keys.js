// Which key does what: as the server proposes it, until a person chooses another one; and what a press of it does.
import { areSingleKeysOn, isAfterG, isTyping } from "../core/js/keys.js";
import { post } from "./annotate-sender.js";

const NAMES = { " ": "Space" };
const ARROWS = { ArrowUp: "parent", ArrowDown: "child", ArrowLeft: "previous", ArrowRight: "next" };
const MOVES = { j: 1, k: -1 };
const FIXED = new Set(["g", "j", "k", "?", "Escape", "Tab", "Shift", "Control", "Alt", "Meta", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]);

class Keys {
  #url;
  #own;

  constructor({ keys, ownKeys }) {
    this.#url = keys;
    this.#own = JSON.parse(ownKeys || "{}");
  }

  get own() {
    return this.#own;
  }

  /** Write each key on what it does, within an element or on the whole page. */
  show = (within = document) => {
    for (const button of within.querySelectorAll("[data-key-id]")) {
      button.dataset.usualKey ??= button.dataset.key;
      const key = this.#own[button.dataset.keyId] ?? button.dataset.usualKey;
      button.dataset.key = key;
      const shown = button.querySelector("kbd");
      if (shown) shown.textContent = key;
    }
    for (const shown of document.querySelectorAll("[data-key-of]")) {
      const source = document.querySelector(`[data-key-id="${shown.dataset.keyOf}"]`);
      if (source) shown.textContent = source.dataset.key;
    }
  };

  /** Find what a key does: an attribute of the sample, or a command. */
  button(key, sample) {
    const fits = (one) => one.dataset.key === key && !one.disabled;
    const ownFirst = [...sample.querySelectorAll("[data-key-id]"), ...document.querySelectorAll(".annotate-keys [data-key-id]")];
    return ownFirst.find(fits) ?? null;
  }

  /** Give an action a key; the one that had it gets the key that this one had. */
  change(id, key) {
    const all = [...document.querySelectorAll(".sample:not(.is-waiting) [data-key-id], .annotate-keys [data-key-id]")];
    const changed = all.find((one) => one.dataset.keyId === id);
    const other = all.find((one) => one.dataset.key === key && one.dataset.keyId !== id);
    if (other) this.#own[other.dataset.keyId] = changed.dataset.key;
    this.#own[id] = key;
    this.#keep();
  }

  reset() {
    this.#own = {};
    this.#keep();
  }

  #keep() {
    post(this.#url, this.#own, { keepalive: true }).catch(() => null); // until the page is left they hold anyway
    this.show();
  }
}

export const keepKeys = (dataset) => {
  const keys = new Keys(dataset);
  keys.show();
  return keys;
};

export function changeKeys(keys) {
  const dialog = document.getElementById("change-keys");
  const list = dialog.querySelector("[data-key-changes]");
  let chosen = null;

  function draw() {
    const all = document.querySelectorAll(".sample:not(.is-waiting) [data-key-id], .annotate-keys [data-key-id]");
    list.replaceChildren(...[...all].map(line));
  }

  function line({ dataset }) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    const key = document.createElement("kbd");
    const words = document.createElement("span");
    button.type = "button";
    button.className = "command";
    key.textContent = dataset.keyId === chosen ? "press a key" : dataset.key;
    words.textContent = dataset.keyWord;
    button.append(key, words);
    button.addEventListener("click", () => {
      const at = [...list.children].indexOf(item);
      chosen = dataset.keyId;
      draw();
      list.children[at].firstElementChild.focus();
    });
    item.append(button);
    return item;
  }

  function press(event) {
    if (!chosen || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") chosen = null;
    else if (FIXED.has(event.key)) return;
    else {
      keys.change(chosen, NAMES[event.key] ?? event.key);
      chosen = null;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    draw();
  }

  dialog.onkeydown = press;
  dialog.querySelector("[data-reset-keys]").onclick = () => {
    keys.reset();
    draw();
  };
  draw();
  dialog.showModal();
}

const answersItself = (element) =>
  element?.closest?.("a[href], button, summary, select, input, textarea") && !element.closest("[data-chooses]");

/** The keys that are pressed on the page and in its frame. */
export class KeyPresses {
  #keys;
  #sample;
  #onUse;

  /** `sample` returns the one that is shown; `onUse` hears of each key that does something. */
  constructor(keys, { sample, onUse }) {
    this.#keys = keys;
    this.#sample = sample;
    this.#onUse = onUse;
  }

  listen() {
    document.addEventListener("keydown", (event) => this.#listenTo(event), { capture: true });
  }

  /** Press a key that the frame reports; what means nothing here is pressed on the page around it. */
  pressInFrame({ key, shift, ctrl, alt, meta }) {
    const modifiers = { shiftKey: shift, ctrlKey: ctrl, altKey: alt, metaKey: meta };
    const event = new KeyboardEvent("keydown", { key, ...modifiers, bubbles: true });
    if (!this.#press(event)) document.dispatchEvent(event);
  }

  #listenTo(event) {
    if (event.isTrusted && this.#press(event)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else if ((event.key === "Enter" || event.key === " ") && answersItself(event.target)) {
      event.stopImmediatePropagation(); // the button at hand is meant
    }
  }

  /** Do what a key means; return whether it means anything. */
  #press({ key: pressed, ctrlKey, metaKey, altKey, isComposing, target, timeStamp }) {
    if (ctrlKey || metaKey || altKey || isComposing || !areSingleKeysOn()) return false;
    if (document.querySelector("dialog[open]") || isTyping(target)) return false;
    if (pressed === "g" || isAfterG(timeStamp)) return false; // a place to go to
    const key = NAMES[pressed] ?? pressed;
    if ((key === "Enter" || key === "Space") && answersItself(target)) return false;
    const sample = this.#sample();
    const button = this.#keys.button(key, sample.element);
    if (!button && !(key in ARROWS) && !(key in MOVES)) return false;
    this.#onUse(sample);
    if (button) button.click();
    else if (key in ARROWS) sample.step(ARROWS[key]);
    else sample.move(MOVES[key]);
    return true;
  }
}
