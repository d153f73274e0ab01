// Tells whoever listens to the page what became of the requests, once no more are coming, or now and then while they do.

const QUIET = 700;
const SELDOM = 5000;
const KINDS = ["admitted", "queued", "refused", "unchecked"];

export class News {
  #timer = 0;

  constructor(place) {
    this.place = place;
  }

  scene(scene) {
    this.lanes = scene.lanes;
    clearTimeout(this.#timer);
    this.#forget();
  }

  frame(frame) {
    if (frame.requests.length === 0) return;
    for (const { lane, outcome } of frame.requests) this.came[lane][outcome] += 1;
    this.since ??= performance.now();
    clearTimeout(this.#timer);
    if (performance.now() - this.since > SELDOM) this.#tell();
    else this.#timer = setTimeout(() => this.#tell(), QUIET);
  }

  #tell() {
    const told = this.came.map((counts, lane) => {
      const some = KINDS.filter((kind) => counts[kind] > 0).map((kind) => `${counts[kind]} ${kind}`);
      return `${this.lanes[lane].title}: ${some.join(", ")}.`;
    });
    this.place.textContent = told.join(" ");
    this.#forget();
  }

  #forget() {
    this.since = null;
    this.came = this.lanes.map(() => Object.fromEntries(KINDS.map((kind) => [kind, 0])));
  }
}
