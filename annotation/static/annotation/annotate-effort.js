// Counts keys, clicks and what became of suggestions, and reports it now and then; it never holds anything up.
import { post } from "./annotate-sender.js";

const EVERY = 5000;

export class Effort {
  #url;
  #place;
  #batch = [];

  constructor({ effort, site, cluster }) {
    this.#url = effort;
    this.#place = { site, cluster };
    if (!this.#url) return;
    setInterval(() => this.#send(), EVERY);
    window.addEventListener("pagehide", () => this.#send());
  }

  opened(sample) {
    this.#add(sample, "page_opened");
  }

  done(sample) {
    this.#add(sample, "page_done");
    this.#send();
  }

  key(sample) {
    this.#add(sample, "key", sample.active || null);
  }

  click(sample) {
    this.#add(sample, "click", sample.active || null);
  }

  undone(sample) {
    this.#add(sample, "undone");
  }

  tell(sample, gesture) {
    if (gesture.gesture === "accept") {
      for (const { attribute, source } of gesture.annotations) {
        if (attribute) this.#add(sample, "accepted", attribute, source);
      }
    } else if (gesture.attribute && sample.hasProposal(gesture.attribute)) {
      this.#add(sample, "corrected", gesture.attribute);
    }
  }

  #add(sample, action, attribute = null, source = "") {
    if (!this.#url) return;
    this.#batch.push({ ...this.#place, page: sample.page, attribute, action, source, at_ms: Date.now() });
  }

  #send() {
    if (!this.#batch.length) return;
    const batch = this.#batch.splice(0);
    post(this.#url, batch, { keepalive: true }).catch(() => null);
  }
}
