// The last requests as a table, for those who would rather read than look at the timeline.

import { seconds } from "./words.js";

const MOST_ROWS = 30;

export class Table {
  // A request comes to every lane at once.
  #rows = [];

  constructor(place) {
    this.place = place;
    place.addEventListener("toggle", () => this.#write());
  }

  scene({ lanes }) {
    this.lanes = lanes.length;
    this.#rows = [];
    this.place.querySelector("thead").innerHTML =
      `<tr><th scope="col">at</th>${lanes.map(({ title }) => `<th scope="col">${title}</th>`).join("")}</tr>`;
    this.#write();
  }

  frame({ requests }) {
    if (requests.length === 0) return;
    for (let first = 0; first < requests.length; first += this.lanes) {
      this.#rows.push(requests.slice(first, first + this.lanes));
    }
    this.#rows = this.#rows.slice(-MOST_ROWS);
    this.#write();
  }

  // The last one first.
  #write() {
    if (!this.place.open) return;
    const rows = this.#rows.toReversed().map((request) => {
      const told = request.map(({ outcome, passes }) => `<td>${outcome}${outcome === "queued" ? `, leaves at ${seconds(passes)}` : ""}</td>`);
      return `<tr><th scope="row">${seconds(request[0].at, 3)}</th>${told.join("")}</tr>`;
    });
    this.place.querySelector("tbody").innerHTML = rows.join("");
  }
}
