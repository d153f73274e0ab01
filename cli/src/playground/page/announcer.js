// Announces the outcomes of requests to screen readers: when no more arrive, and periodically while they do.

// Milliseconds without requests before an announcement.
const QUIET_PERIOD = 700;
const MAX_DELAY = 5000;

export class Announcer {
  #timer = 0;

  // `outcomes` has the words for each outcome.
  constructor(element, outcomes) {
    this.element = element;
    this.outcomes = outcomes;
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
    const sentences = this.counts.flatMap((counts, lane) => {
      const nonzero = Object.entries(this.outcomes).filter(([outcome]) => counts[outcome] > 0);
      const parts = nonzero.map(([outcome, words]) => `${counts[outcome]} ${words}`);
      return parts.length > 0 ? [`${this.lanes[lane].title}: ${parts.join(", ")}.`] : [];
    });
    this.element.textContent = sentences.join(" ");
    this.#reset();
  }

  #reset() {
    this.since = null;
    this.counts = this.lanes.map(() => Object.fromEntries(Object.keys(this.outcomes).map((outcome) => [outcome, 0])));
  }
}
