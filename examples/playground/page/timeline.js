// The timeline that all lanes share: what came when, and what became of it; and the same as a table.

import { seconds } from "./controls.js";

// How many windows are seen of what was, and of what is to come.
const [BEFORE, AFTER] = [1.15, 0.3];
const IN_TABLE = 30;
const NARROW = 640;
const MARGIN = 8;

export class Timeline {
  // A request came to every lane at once: what became of it in each.
  #requests = [];
  #frame = null;
  #heard = 0;
  #dirty = true;

  constructor(canvas, table) {
    this.canvas = canvas;
    this.table = table;
    this.reduced = matchMedia("(prefers-reduced-motion: reduce)");
    new ResizeObserver(() => (this.#dirty = true)).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (this.#dirty = true));
    table.addEventListener("toggle", () => this.#tabulate());
    requestAnimationFrame(() => this.#animate());
  }

  scene({ lanes, settings }) {
    this.lanes = lanes;
    this.window = settings.window * 1e6;
    this.#requests = [];
    this.#frame = null;
    this.canvas.setAttribute("aria-label", "Nothing has come yet.");
    this.table.querySelector("thead").innerHTML =
      `<tr><th scope="col">at</th>${lanes.map(({ title }) => `<th scope="col">${title}</th>`).join("")}</tr>`;
    this.#tabulate();
  }

  frame(frame) {
    this.#frame = frame;
    this.#heard = performance.now();
    this.#dirty = true;
    if (frame.requests.length === 0) return;
    const oldest = frame.now - 2 * BEFORE * this.window;
    for (let first = 0; first < frame.requests.length; first += this.lanes.length) {
      this.#requests.push(frame.requests.slice(first, first + this.lanes.length));
    }
    this.#requests = this.#requests.filter((request) => request.some(({ at, passes }) => Math.max(at, passes ?? 0) > oldest));
    this.#tabulate();
    const through = ({ admitted, queued, unchecked }) => admitted + queued + unchecked;
    const each = this.lanes.map(({ title }, lane) => `${title} ${through(frame.lanes[lane])}`);
    this.canvas.setAttribute("aria-label", `Let through so far: ${each.join(", ")}.`);
  }

  #animate() {
    const moves = this.#frame && !this.#frame.paused && !this.reduced.matches;
    if (this.#frame && (this.#dirty || moves)) this.#draw(moves);
    requestAnimationFrame(() => this.#animate());
  }

  // Between frames the time goes on, but not far: a frame may be late because the scene is.
  #now(moves) {
    const gone = moves ? Math.min(performance.now() - this.#heard, 60) * 1000 * Number(this.#frame.speed) : 0;
    return this.#frame.now + gone;
  }

  #draw(moves) {
    this.#dirty = false;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const scale = devicePixelRatio;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
    }
    const style = getComputedStyle(this.canvas);
    const pen = this.canvas.getContext("2d");
    const colour = (name) => {
      // A canvas knows no light-dark(): an element has to work the colour out.
      this.canvas.style.color = `var(--${name})`;
      return style.color;
    };
    const colours = Object.fromEntries(["ink", "faint", "line", "admitted", "queued", "refused", "chief"].map((name) => [name, colour(name)]));
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    const labels = width < NARROW ? MARGIN : 128;
    const now = this.#now(moves);
    const begin = now - BEFORE * this.window;
    const x = (time) => labels + ((time - begin) / ((BEFORE + AFTER) * this.window)) * (width - labels - MARGIN);
    const rowHeight = (height - 26) / (this.lanes.length + 1);
    const y = (row) => rowHeight * (row + (width < NARROW ? 0.68 : 0.5));

    this.#axis(pen, { x, now, begin, labels, width, height, colours });
    this.lanes.forEach(({ title }, lane) => this.#label(pen, title, labels, width, y(lane + 1), rowHeight, colours));
    this.#label(pen, "To come", labels, width, y(0), rowHeight, colours);

    pen.save();
    pen.beginPath();
    pen.rect(labels, 0, width - labels, height);
    pen.clip();
    const size = width < NARROW ? 0.65 : 1;
    for (const at of this.#frame.planned) mark(pen, "planned", x(at), y(0), size, colours.faint);
    const seen = this.#requests.flat().filter(({ at, passes }) => Math.max(at, passes ?? 0) > begin);
    for (const { lane, at, passes } of seen) {
      if (passes > at) leaves(pen, [x(at), x(passes)], y(lane + 1), passes <= now, size, colours);
    }
    for (const together of Map.groupBy(seen, ({ lane, at }) => `${lane} ${at}`).values()) {
      const [{ lane, at }] = together;
      marks(pen, together, x(at), y(lane + 1), size, colours);
    }
    pen.restore();
  }

  #axis(pen, { x, now, begin, labels, width, height, colours }) {
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.lineWidth = 1;
    for (let edge = Math.ceil(begin / this.window) * this.window; x(edge) < width; edge += this.window) {
      if (edge < 0 || x(edge) < labels) continue;
      pen.strokeStyle = colours.line;
      stroke(pen, [x(edge), 4], [x(edge), height - 20]);
      pen.fillStyle = colours.faint;
      pen.fillText(seconds(edge, 0), Math.min(x(edge), width - 14), height - 6);
    }
    pen.strokeStyle = colours.chief;
    pen.lineWidth = 1.6;
    stroke(pen, [x(now), 2], [x(now), height - 18]);
    pen.fillStyle = colours.chief;
    pen.fillText("now", x(now), height - 6);
  }

  #label(pen, title, labels, width, y, rowHeight, colours) {
    pen.fillStyle = colours.faint;
    pen.textAlign = "left";
    pen.font = "12px system-ui, sans-serif";
    pen.fillText(title, 2, width < NARROW ? y - rowHeight * 0.3 : y + 4);
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1;
    stroke(pen, [labels, y], [width - MARGIN, y]);
  }

  // The same for those who would rather read.
  #tabulate() {
    if (!this.table.open || !this.lanes) return;
    const rows = this.#requests.slice(-IN_TABLE).reverse().map((request) => {
      const told = request.map(({ outcome, passes }) => `<td>${outcome}${outcome === "queued" ? `, leaves at ${seconds(passes)}` : ""}</td>`);
      return `<tr><th scope="row">${seconds(request[0].at, 3)}</th>${told.join("")}</tr>`;
    });
    this.table.querySelector("tbody").innerHTML = rows.join("");
  }
}

function stroke(pen, from, to) {
  pen.beginPath();
  pen.moveTo(...from);
  pen.lineTo(...to);
  pen.stroke();
}

// From when it came to when it leaves, or will.
function leaves(pen, [from, to], y, gone, size, colours) {
  pen.strokeStyle = colours.queued;
  pen.lineWidth = 1;
  pen.setLineDash([2, 3]);
  stroke(pen, [from, y], [to, y]);
  pen.setLineDash([]);
  mark(pen, gone ? "admitted" : "planned", to, y, size, gone ? colours.admitted : colours.faint);
}

// Those who came at once: a mark for each kind of them, and how many they are.
function marks(pen, together, x, y, size, colours) {
  const kinds = Map.groupBy(together, ({ outcome }) => outcome);
  let row = y - (kinds.size - 1) * 6;
  for (const [kind, { length }] of kinds) {
    const colour = colours[kind] ?? colours.ink;
    mark(pen, kind, x, row, size, colour);
    if (length > 1) {
      pen.font = "600 11px system-ui, sans-serif";
      pen.textAlign = "left";
      pen.fillText(length, x + 8, row + 4);
    }
    row += 12;
  }
}

function mark(pen, kind, x, y, size, colour) {
  const far = 4.2 * size;
  pen.beginPath();
  pen.lineWidth = 1.8 * size;
  pen.fillStyle = pen.strokeStyle = colour;
  switch (kind) {
    case "refused":
      pen.moveTo(x - far, y - far);
      pen.lineTo(x + far, y + far);
      pen.moveTo(x + far, y - far);
      pen.lineTo(x - far, y + far);
      return pen.stroke();
    case "queued":
      pen.moveTo(x, y - 1.2 * far);
      pen.lineTo(x + 1.2 * far, y);
      pen.lineTo(x, y + 1.2 * far);
      pen.lineTo(x - 1.2 * far, y);
      pen.closePath();
      return pen.stroke();
    case "planned":
      pen.arc(x, y, far, 0, 7);
      return pen.stroke();
    default:
      pen.arc(x, y, far, 0, 7);
      return pen.fill();
  }
}
