// Sends gestures one after the other and keeps those that are not saved yet, also over a reload.
const UNSAVED = "vertex.annotate.unsaved";
const RETRY_AFTER = 2000;
const MAX_FAILURES = 3; // of what the server answers with an error of its own

const csrf = () => JSON.parse(document.body.getAttribute("hx-headers") ?? "{}")["X-CSRFToken"];

export async function post(url, body, options = {}) {
  return fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRFToken": csrf() },
    body: JSON.stringify(body),
    ...options,
  });
}

export class Sender {
  #chain = Promise.resolve();
  #kept = []; // what is not saved yet, in its order
  #onState;

  constructor({ onState }) {
    this.#onState = onState;
  }

  get isWaiting() {
    return this.#kept.length > 0;
  }

  /** Resolve when all that was sent is saved. */
  async idle() {
    await this.#chain;
    return null;
  }

  /** Send what `complete` returns once its turn has come; null where there is nothing to send. */
  send(url, complete) {
    const kept = { url, body: complete() };
    this.#kept.push(kept);
    this.#keep();
    this.#onState("saving", "Saving…");
    const sent = this.#chain.then(() => this.#deliver(kept, complete()));
    this.#chain = sent.catch(() => null);
    return sent;
  }

  /** Send what an earlier load of the page could not, and hand over what came of each. */
  resume(use) {
    const left = JSON.parse(sessionStorage.getItem(UNSAVED) ?? "[]");
    for (const { url, body } of left) this.send(url, () => body).then((answer) => use(url, body, answer));
  }

  async #deliver(kept, body) {
    if (!body) return this.#finish(kept, null);
    for (let nFailed = 0; ; ) {
      try {
        const response = await post(kept.url, body);
        if (response.status >= 500) nFailed += 1;
        if (response.status < 500 || nFailed > MAX_FAILURES) return this.#finish(kept, await this.#read(response));
      } catch {
        // no answer: it is tried again for as long as it takes
      }
      this.#onState("failed", "Not saved yet: the server does not answer. Trying again…");
      await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER));
    }
  }

  async #read(response) {
    const isJson = response.headers.get("Content-Type")?.includes("json");
    if (isJson) return response.json();
    const why = response.status === 403 || response.redirected ? "Log in again and load the page." : "Load the page again.";
    return { problems: [`This could not be saved (${response.status}). ${why}`], changes: [], rows: {} };
  }

  #finish(kept, answer) {
    this.#kept.splice(this.#kept.indexOf(kept), 1);
    this.#keep();
    if (!this.#kept.length) this.#onState("saved", "Saved");
    return answer;
  }

  #keep() {
    sessionStorage.setItem(UNSAVED, JSON.stringify(this.#kept));
  }
}
