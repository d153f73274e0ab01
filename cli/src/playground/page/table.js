// The last requests as a table, as a text alternative to the timeline.

import { seconds } from "./format.js";

const MAX_ROWS = 30;

export class Table {
  // A row has the results of one request in all lanes.
  #rows = [];

  constructor(element) {
    this.element = element;
    element.addEventListener("toggle", () => this.#write());
  }

  session({ lanes }) {
    this.lanes = lanes.length;
    this.#rows = [];
    this.element.querySelector("thead").innerHTML =
      `<tr><th scope="col">at</th>${lanes.map(({ title }) => `<th scope="col">${title}</th>`).join("")}</tr>`;
    this.#write();
  }

  frame({ requests }) {
    if (requests.length === 0) return;
    for (let first = 0; first < requests.length; first += this.lanes) {
      this.#rows.push(requests.slice(first, first + this.lanes));
    }
    this.#rows = this.#rows.slice(-MAX_ROWS);
    this.#write();
  }

  // Newest first.
  #write() {
    if (!this.element.open) return;
    const rows = this.#rows.toReversed().map((request) => {
      const cells = request.map(
        ({ outcome, passes_at: passesAt }) => `<td>${outcome}${outcome === "queued" ? `, leaves at ${seconds(passesAt)}` : ""}</td>`,
      );
      return `<tr><th scope="row">${seconds(request[0].at, 3)}</th>${cells.join("")}</tr>`;
    });
    this.element.querySelector("tbody").innerHTML = rows.join("");
  }
}
