// The timeline of all lanes: requests by time, with their outcomes.

import { Marks, palette, stroke } from "./marks.js";
import { seconds } from "./format.js";

// The visible time before and after now, in windows.
const [BEFORE, AFTER] = [1.15, 0.3];
// More than there are pixels.
const MAX_MOMENTS = 4000;
const NARROW_WIDTH = 640;
// Milliseconds. A device that takes longer to draw does not animate between frames.
const MAX_ANIMATED_DRAW_TIME = 5;
// Milliseconds that the time is extrapolated between frames: a late frame may mean that the session is late.
const MAX_EXTRAPOLATION = 60;
const MARGIN = 8;

export class Timeline {
  // Times of requests, with the outcomes in each lane, and the departures of queued requests.
  #moments = [];
  #frame = null;
  #receivedAt = 0;
  #dirty = true;
  #colors = null;
  #lastDrawTime = 0;

  constructor(canvas) {
    this.canvas = canvas;
    this.reduced = matchMedia("(prefers-reduced-motion: reduce)");
    new ResizeObserver(() => (this.#dirty = true)).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.#colors = null;
      this.#dirty = true;
    });
    requestAnimationFrame(() => this.#animate());
  }

  // The axis shows the edges of windows, or multiples of `axisStep`: then there are no planned requests either.
  session({ lanes, settings, axisStep = null }) {
    this.lanes = lanes;
    this.window = settings.window * 1e6;
    this.axisStep = axisStep ?? this.window;
    this.firstRow = axisStep === null ? 1 : 0;
    this.#moments = [];
    this.#frame = null;
    this.canvas.setAttribute("aria-label", "No requests yet.");
  }

  frame(frame) {
    this.#frame = frame;
    this.#receivedAt = performance.now();
    this.#dirty = true;
    if (frame.requests.length === 0) return;
    for (const request of frame.requests) this.#add(request);
    const oldest = frame.now - BEFORE * this.window;
    const invisible = this.#moments.findIndex(({ until }) => until > oldest);
    this.#moments.splice(0, Math.max(invisible, this.#moments.length - MAX_MOMENTS));
    const passed = ({ admitted, queued, unchecked }) => admitted + queued + unchecked;
    const counts = this.lanes.map(({ title }, lane) => `${title} ${passed(frame.lanes[lane])}`);
    this.canvas.setAttribute("aria-label", `Requests passed: ${counts.join(", ")}.`);
  }

  #add({ lane, at, outcome, passes_at: passesAt }) {
    let moment = this.#moments.at(-1);
    if (moment?.at !== at) {
      moment = { at, until: at, lanes: this.lanes.map(() => ({ outcomes: new Map(), departures: [] })) };
      this.#moments.push(moment);
    }
    const { outcomes, departures } = moment.lanes[lane];
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (passesAt > at) departures.push(passesAt);
    moment.until = Math.max(moment.until, passesAt ?? at);
  }

  #animate() {
    const start = performance.now();
    const isMoving = this.#frame && !this.#frame.paused && !this.reduced.matches;
    if (this.#frame && (this.#dirty || (isMoving && this.#lastDrawTime < MAX_ANIMATED_DRAW_TIME))) {
      this.#draw(isMoving);
      this.#lastDrawTime = performance.now() - start;
    }
    requestAnimationFrame(() => this.#animate());
  }

  #now(isMoving) {
    if (!isMoving) return this.#frame.now;
    const elapsed = Math.min(performance.now() - this.#receivedAt, MAX_EXTRAPOLATION);
    return this.#frame.now + elapsed * 1000 * Number(this.#frame.speed);
  }

  #draw(isMoving) {
    this.#dirty = false;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const scale = devicePixelRatio;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
    }
    const pen = this.canvas.getContext("2d");
    const colors = (this.#colors ??= palette(this.canvas));
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    const labels = width < NARROW_WIDTH ? MARGIN : 128;
    const now = this.#now(isMoving);
    const begin = now - BEFORE * this.window;
    const x = (time) => labels + ((time - begin) / ((BEFORE + AFTER) * this.window)) * (width - labels - MARGIN);
    const rowHeight = (height - 26) / (this.lanes.length + this.firstRow);
    const y = (row) => rowHeight * (row + (width < NARROW_WIDTH ? 0.68 : 0.5));

    this.#axis(pen, { x, now, begin, labels, width, height, colors });
    this.lanes.forEach(({ title }, lane) => this.#label(pen, title, labels, width, y(lane + this.firstRow), rowHeight, colors));
    if (this.firstRow > 0) this.#label(pen, "Planned", labels, width, y(0), rowHeight, colors);

    pen.save();
    pen.beginPath();
    pen.rect(labels, 0, width - labels, height);
    pen.clip();
    const marks = new Marks(pen, width < NARROW_WIDTH ? 0.65 : 1, colors);
    for (const at of this.#frame.planned) marks.put("planned", x(at), y(0), colors.faint);
    for (const { at, lanes } of this.#moments) {
      lanes.forEach(({ departures }, lane) => {
        for (const leavesAt of departures) marks.departure([x(at), x(leavesAt)], y(lane + this.firstRow), leavesAt <= now);
      });
    }
    for (const { at, lanes } of this.#moments) {
      lanes.forEach(({ outcomes }, lane) => marks.outcomes(outcomes, x(at), y(lane + this.firstRow)));
    }
    pen.restore();
  }

  #axis(pen, { x, now, begin, labels, width, height, colors }) {
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.lineWidth = 1;
    for (let edge = Math.ceil(begin / this.axisStep) * this.axisStep; x(edge) < width; edge += this.axisStep) {
      if (edge < 0 || x(edge) < labels) continue;
      pen.strokeStyle = colors.line;
      stroke(pen, [x(edge), 4], [x(edge), height - 20]);
      pen.fillStyle = colors.faint;
      // Leaves space for the label of the current time.
      if (Math.abs(x(edge) - x(now)) > 28) pen.fillText(seconds(edge, 0), Math.min(x(edge), width - 14), height - 6);
    }
    pen.strokeStyle = colors.accent;
    pen.lineWidth = 1.6;
    stroke(pen, [x(now), 2], [x(now), height - 18]);
    pen.fillStyle = colors.accent;
    pen.fillText("now", x(now), height - 6);
  }

  #label(pen, title, labels, width, y, rowHeight, colors) {
    pen.fillStyle = colors.faint;
    pen.textAlign = "left";
    pen.font = "12px system-ui, sans-serif";
    pen.fillText(title, 2, width < NARROW_WIDTH ? y - rowHeight * 0.3 : y + 4);
    pen.strokeStyle = colors.line;
    pen.lineWidth = 1;
    stroke(pen, [labels, y], [width - MARGIN, y]);
  }
}
