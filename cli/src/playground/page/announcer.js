// Announces the outcomes of requests to screen readers: when no more arrive, and periodically while they do.

// Milliseconds without requests before an announcement.
const QUIET_PERIOD = 700;
const MAX_DELAY = 5000;
const OUTCOMES = ["admitted", "queued", "denied", "unchecked"];

export class Announcer {
  #timer = 0;

  constructor(element) {
    this.element = element;
  }

  session({ lanes }) {
    this.lanes = lanes;
    clearTimeout(this.#timer);
    this.#reset();
  }

  frame(frame) {
    if (frame.requests.length === 0) return;
    for (const { lane, outcome } of frame.requests) this.counts[lane][outcome] += 1;
    this.since ??= performance.now();
    clearTimeout(this.#timer);
    if (performance.now() - this.since > MAX_DELAY) this.#announce();
    else this.#timer = setTimeout(() => this.#announce(), QUIET_PERIOD);
  }

  #announce() {
    const sentences = this.counts.map((counts, lane) => {
      const nonzero = OUTCOMES.filter((outcome) => counts[outcome] > 0).map((outcome) => `${counts[outcome]} ${outcome}`);
      return `${this.lanes[lane].title}: ${nonzero.join(", ")}.`;
    });
    this.element.textContent = sentences.join(" ");
    this.#reset();
  }

  #reset() {
    this.since = null;
    this.counts = this.lanes.map(() => Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])));
  }
}
