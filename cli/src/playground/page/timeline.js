// The timeline that all lanes share: what came when, and what became of it.

import { Marks, palette, stroke } from "./marks.js";
import { seconds } from "./words.js";

// How many windows are seen of what was, and of what is to come.
const [BEFORE, AFTER] = [1.15, 0.3];
// More than there are pixels.
const MOST_MOMENTS = 4000;
const NARROW = 640;
// Milliseconds that a drawing may take to be made again for every picture.
const QUICK = 5;
const MARGIN = 8;

export class Timeline {
  // Moments at which requests came: what became of them in each lane, by kind, and when those who queue leave.
  #moments = [];
  #frame = null;
  #heard = 0;
  #dirty = true;
  #colours = null;
  #took = 0;

  constructor(canvas) {
    this.canvas = canvas;
    this.reduced = matchMedia("(prefers-reduced-motion: reduce)");
    new ResizeObserver(() => (this.#dirty = true)).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.#colours = null;
      this.#dirty = true;
    });
    requestAnimationFrame(() => this.#animate());
  }

  scene({ lanes, settings }) {
    this.lanes = lanes;
    this.window = settings.window * 1e6;
    this.#moments = [];
    this.#frame = null;
    this.canvas.setAttribute("aria-label", "Nothing has come yet.");
  }

  frame(frame) {
    this.#frame = frame;
    this.#heard = performance.now();
    this.#dirty = true;
    if (frame.requests.length === 0) return;
    for (const request of frame.requests) this.#add(request);
    const oldest = frame.now - BEFORE * this.window;
    const gone = this.#moments.findIndex(({ until }) => until > oldest);
    this.#moments.splice(0, Math.max(gone, this.#moments.length - MOST_MOMENTS));
    const through = ({ admitted, queued, unchecked }) => admitted + queued + unchecked;
    const each = this.lanes.map(({ title }, lane) => `${title} ${through(frame.lanes[lane])}`);
    this.canvas.setAttribute("aria-label", `Let through so far: ${each.join(", ")}.`);
  }

  #add({ lane, at, outcome, passes }) {
    let moment = this.#moments.at(-1);
    if (moment?.at !== at) {
      moment = { at, until: at, lanes: this.lanes.map(() => ({ kinds: new Map(), leaves: [] })) };
      this.#moments.push(moment);
    }
    const { kinds, leaves } = moment.lanes[lane];
    kinds.set(outcome, (kinds.get(outcome) ?? 0) + 1);
    if (passes > at) leaves.push(passes);
    moment.until = Math.max(moment.until, passes ?? at);
  }

  // A device that is slow to draw does so when there is something new.
  #animate() {
    const begun = performance.now();
    const moves = this.#frame && !this.#frame.paused && !this.reduced.matches;
    if (this.#frame && (this.#dirty || (moves && this.#took < QUICK))) {
      this.#draw(moves);
      this.#took = performance.now() - begun;
    }
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
    const pen = this.canvas.getContext("2d");
    const colours = (this.#colours ??= palette(this.canvas));
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
    const marks = new Marks(pen, width < NARROW ? 0.65 : 1, colours);
    for (const at of this.#frame.planned) marks.put("planned", x(at), y(0), colours.faint);
    for (const { at, lanes } of this.#moments) {
      lanes.forEach(({ leaves }, lane) => {
        for (const passes of leaves) marks.leave([x(at), x(passes)], y(lane + 1), passes <= now);
      });
    }
    for (const { at, lanes } of this.#moments) {
      lanes.forEach(({ kinds }, lane) => marks.together(kinds, x(at), y(lane + 1)));
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
      // What is the time now is said there.
      if (Math.abs(x(edge) - x(now)) > 28) pen.fillText(seconds(edge, 0), Math.min(x(edge), width - 14), height - 6);
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
}
