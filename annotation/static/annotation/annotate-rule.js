// The rule so far: it is learnt anew after each page, and proposes what it finds on this one and the next.
export class RuleSoFar {
  isLearnt = true; // from all that was accepted
  hasRecords = false; // of pages accepted; then records are proposed on the others too
  #url;
  #idle;
  #samples;
  #isLearning = false;
  #isStale = false;

  /** `idle` resolves when all is saved; `samples` returns those that show what the rule proposes. */
  constructor(url, { idle, samples }) {
    this.#url = url;
    this.#idle = idle;
    this.#samples = samples;
  }

  /** Note that a page was accepted that the rule does not know yet; until it is learnt, the panel is out of date. */
  outdate() {
    this.isLearnt = !this.#url;
    if (this.#url) this.#showLearning(true);
  }

  #showLearning(isOn) {
    const panel = document.getElementById("rule-panel");
    if (isOn) panel.setAttribute("aria-busy", "true");
    else panel.removeAttribute("aria-busy");
    document.querySelector("[data-rule-learning]").hidden = !isOn;
  }

  async learn() {
    if (!this.#url) return;
    if (this.#isLearning) {
      this.#isStale = true;
      return;
    }
    this.#isLearning = true;
    this.#showLearning(true);
    try {
      await this.#idle();
      await window.htmx.ajax("POST", this.#url, { target: "#rule-panel", swap: "innerHTML" });
      this.isLearnt = !this.#isStale;
      await Promise.all(this.#samples().map((sample) => sample.renew({ isAll: this.hasRecords })));
    } finally {
      this.#isLearning = false;
      this.isLearnt = !this.#isStale;
      if (this.#isStale) {
        this.#isStale = false;
        this.learn();
      } else this.#showLearning(false);
    }
  }
}
