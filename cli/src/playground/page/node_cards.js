// The cards of the nodes: the units that each holds, its decisions, and its calls to Redis.

import { write } from "./text.js";

const COLUMNS = 20;
// More do not fit: then the number is enough.
const MAX_DRAWN = 60;

const square = (nth) => `<rect x="${14 + (nth % COLUMNS) * 10.7}" y="${30 + Math.floor(nth / COLUMNS) * 10.7}" width="8.4" height="8.4" class="held"/>`;

function draw(held) {
  const squares = Array.from({ length: Math.min(held, MAX_DRAWN) }, (_, nth) => square(nth));
  const rest = held > MAX_DRAWN ? `and ${held - MAX_DRAWN} more` : held === 0 ? "Redis decides about each request" : "";
  const label = `${held} ${held === 1 ? "unit" : "units"} in hand`;
  const caption = `<text x="120" y="18" text-anchor="middle">${label}</text><text x="120" y="76" text-anchor="middle" class="small">${rest}</text>`;
  return [caption + squares.join(""), label];
}

export class NodeCards {
  constructor(elements) {
    this.cards = elements.map((element) => ({
      element,
      drawing: element.querySelector(".drawing"),
      counts: [...element.querySelectorAll("[data-count]")],
      summary: element.querySelector(".said"),
    }));
  }

  frame({ nodes }) {
    nodes.forEach((state, nth) => this.#update(this.cards[nth], state));
  }

  #update({ element, drawing, counts, summary }, state) {
    const [content, label] = draw(state.held);
    if (element.dataset.held !== String(state.held)) {
      element.dataset.held = state.held;
      drawing.innerHTML = content;
      drawing.setAttribute("aria-label", label);
    }
    const values = { ...state, unleased_calls: state.unleased.calls };
    for (const count of counts) write(count, values[count.dataset.count]);
    element.querySelector("[data-count=failed]").parentElement.hidden = state.failed === 0;
    write(summary, state.summary || "No request yet");
  }
}
