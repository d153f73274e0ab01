// The last requests of the nodes as a table, as a text alternative to the timeline.

import { seconds } from "./format.js";

const MAX_ROWS = 30;
const NODES = ["A", "B"];

export class NodeTable {
  #rows = [];

  // `outcomes` has the words for each outcome.
  constructor(element, outcomes) {
    this.element = element;
    this.outcomes = outcomes;
    element.addEventListener("toggle", () => this.#write());
  }

  session() {
    this.#rows = [];
    this.#write();
  }

  frame({ requests }) {
    if (requests.length === 0) return;
    this.#rows = [...this.#rows, ...requests].slice(-MAX_ROWS);
    this.#write();
  }

  // Newest first.
  #write() {
    if (!this.element.open) return;
    const rows = this.#rows.toReversed().map(
      ({ at, lane, outcome }) => `<tr><th scope="row">${seconds(at, 3)}</th><td>${NODES[lane]}</td><td>${this.outcomes[outcome]}</td></tr>`,
    );
    this.element.querySelector("tbody").innerHTML = rows.join("");
  }
}
