// Drawings of each algorithm's state, 240 by 150. The store provides the numbers.

import { seconds } from "./format.js";

const WIDTH = 240;
const [LEFT, RIGHT, TOP, BOTTOM] = [20, 220, 34, 118];

const circle = (x, y, r, kind) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${r.toFixed(1)}" class="${kind}"/>`;
const box = (x, y, width, height, kind) =>
  `<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${Math.max(0, width).toFixed(1)}" height="${Math.max(0, height).toFixed(1)}" class="${kind}"/>`;
const line = (x1, y1, x2, y2, kind) =>
  `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" class="${kind}"/>`;
const path = (d, kind) => `<path d="${d}" class="${kind}"/>`;
const text = (x, y, content, kind = "", anchor = "middle") =>
  `<text x="${x.toFixed(1)}" y="${y}" text-anchor="${anchor}" class="${kind}">${content}</text>`;

// Arranges circles in a box: their size, and the center of each.
function grid(count, width, height) {
  let columns = 1;
  while (Math.ceil(count / columns) * (width / columns) > height) columns += 1;
  const size = width / columns;
  return { size, center: (nth) => [(nth % columns) * size + size / 2, Math.floor(nth / columns) * size + size / 2] };
}

const duration = (micros) => seconds(Math.max(0, micros), 1);

const drawings = {
  // The tokens of the bucket. The next one grows until it is whole.
  tokens({ tokens, left, capacity }) {
    const { size, center } = grid(capacity, RIGHT - LEFT - 16, BOTTOM - TOP - 4);
    const circles = Array.from({ length: capacity }, (_, nth) => {
      const [x, y] = center(nth);
      const part = Math.min(1, Math.max(0, tokens - nth));
      const [cx, cy, r] = [LEFT + 8 + x, BOTTOM - 4 - y, size * 0.42];
      return circle(cx, cy, r, "empty") + (part > 0 ? circle(cx, cy, r * Math.sqrt(part), part < 1 ? "growing" : "admitted") : "");
    });
    const bucket = path(`M${LEFT} ${TOP - 8}V${BOTTOM - 8}q0 10 10 10H${RIGHT - 10}q10 0 10-10V${TOP - 8}`, "frame");
    const label = `${left} of ${capacity} tokens`;
    return [bucket + circles.join("") + text(WIDTH / 2, 18, label) + text(WIDTH / 2, 138, "refilled one by one", "small"), label];
  },

  // The level of the bucket, and the requests that wait in it.
  queue({ level, waiting, capacity }) {
    const [top, bottom, left, right] = [TOP - 4, BOTTOM - 12, 40, 200];
    const height = ((bottom - top) * Math.min(level, capacity)) / capacity;
    const water = box(left, bottom - height, right - left, height, "water");
    const { size, center } = grid(capacity, right - left - 12, bottom - top - 4);
    const r = size * 0.36;
    const requests = Array.from({ length: waiting }, (_, nth) => {
      const [x, y] = center(nth);
      const [cx, cy] = [left + 6 + x, bottom - 2 - y];
      return path(`M${cx} ${cy - r}L${cx + r} ${cy}L${cx} ${cy + r}L${cx - r} ${cy}Z`, "queued");
    });
    const bucket = path(`M${left} ${top - 6}V${bottom}H${WIDTH / 2 - 7}M${WIDTH / 2 + 7} ${bottom}H${right}V${top - 6}`, "frame");
    // A drop falls while the last request that left leaks.
    const falling = level > 0 ? 1 - (level % 1 || 1) : 0;
    const drop = level > 0 ? circle(WIDTH / 2, bottom + 4 + falling * 22, 3.4, "admitted") : "";
    const label = `${waiting} waiting, ${Math.ceil(level)} of ${capacity} full`;
    return [water + requests.join("") + bucket + drop + text(WIDTH / 2, 18, label) + text(WIDTH / 2, 146, "they leave evenly", "small"), label];
  },

  // The count of the window, and the time until its edge.
  window({ used, limit, begins, ends }, now) {
    const { size, center } = grid(limit, RIGHT - LEFT - 8, BOTTOM - TOP - 26);
    const cells = Array.from({ length: limit }, (_, nth) => {
      const [x, y] = center(nth);
      return circle(LEFT + 4 + x, TOP + 2 + y, size * 0.4, nth < used ? "admitted" : "empty");
    });
    const x = LEFT + ((RIGHT - LEFT) * (now - begins)) / (ends - begins);
    const axis =
      box(LEFT, TOP - 6, RIGHT - LEFT, BOTTOM - TOP - 10, "frame") +
      line(LEFT, BOTTOM, RIGHT, BOTTOM, "frame") +
      line(x, BOTTOM - 7, x, BOTTOM + 7, "cursor");
    const edges = text(LEFT, 138, duration(begins), "small") + text(RIGHT, 138, duration(ends), "small");
    const label = `${used} of ${limit} in this window`;
    return [cells.join("") + axis + edges + text(WIDTH / 2, 18, label) + text(WIDTH / 2, 138, `reset in ${duration(ends - now)}`, "small"), label];
  },

  // Every admitted request in the window.
  log({ entries, limit, window }, now) {
    const at = (time) => RIGHT - ((RIGHT - LEFT) * (now - time)) / window;
    // Requests of about the same time are stacked.
    const heights = new Map();
    const stacked = entries.map((time) => {
      const stack = Math.floor(time / (window / 40));
      heights.set(stack, (heights.get(stack) ?? -1) + 1);
      return [at(time), heights.get(stack)];
    });
    const step = Math.min(8, (BOTTOM - TOP - 6) / Math.max(1, ...heights.values()));
    const marks = stacked.map(([x, height]) => circle(x, BOTTOM - 6 - height * step, 3.6, "admitted"));
    const axis =
      box(LEFT, TOP - 6, RIGHT - LEFT, BOTTOM - TOP + 6, "span") +
      line(LEFT, BOTTOM, RIGHT, BOTTOM, "frame") +
      line(RIGHT, TOP - 6, RIGHT, BOTTOM + 5, "cursor") +
      line(LEFT, TOP - 6, LEFT, BOTTOM + 5, "frame");
    // A lease may add milliseconds, for which there is no space. The text in the middle leaves the longer label on its left some.
    const begin = Number((window / 1e6).toPrecision(3));
    const ends = text(LEFT, 138, `${begin} s ago`, "small", "start") + text(RIGHT, 138, "now", "small", "end");
    const label = `${entries.length} of ${limit} in the log`;
    const next = entries.length > 0 ? text(WIDTH / 2 + 8, 138, `next expires in ${duration(entries[0] + window - now)}`, "small") : "";
    return [axis + marks.join("") + ends + next + text(WIDTH / 2, 18, label), label];
  },

  // A bar per sub-window, and the window that slides over them.
  counter({ counts, share, used, limit }) {
    const width = (RIGHT - LEFT) / counts.length;
    const highest = Math.max(limit, ...counts);
    const height = (count) => ((BOTTOM - TOP) * count) / highest;
    const bars = counts.map((count, nth) => {
      const [x, wide] = [LEFT + nth * width + 1, width - 2];
      if (nth > 0) return box(x, BOTTOM - height(count), wide, height(count), "bar");
      const counting = height(count) * share;
      return box(x, BOTTOM - height(count), wide, height(count), "fading") + box(x, BOTTOM - counting, wide, counting, "bar");
    });
    const numbers = counts.length > 9 ? [] : counts.map((count, nth) => text(LEFT + (nth + 0.5) * width, BOTTOM + 12, count, "small"));
    const [begin, end] = [LEFT + (1 - share) * width, RIGHT - share * width];
    const window = box(begin, TOP - 8, end - begin, BOTTOM - TOP + 8, "span") + line(end, TOP - 8, end, BOTTOM + 4, "cursor");
    // With several sub-windows, the limit applies to their sum, so there is no line for it.
    const bound = counts.length === 2 ? line(LEFT, BOTTOM - height(limit), RIGHT, BOTTOM - height(limit), "bound") : "";
    const label = `${used} of ${limit} estimated`;
    const oldest = text(WIDTH / 2, 144, `weight of the oldest: ${Math.round(share * 100)}%`, "small");
    return [window + bars.join("") + bound + line(LEFT, BOTTOM, RIGHT, BOTTOM, "frame") + numbers.join("") + oldest + text(WIDTH / 2, 18, label), label];
  },

  // The slots: requests hold the first ones.
  slots({ held, limit, next_free: nextFree }, now) {
    const { size, center } = grid(limit, RIGHT - LEFT - 8, BOTTOM - TOP - 4);
    const side = size * 0.76;
    const slots = Array.from({ length: limit }, (_, nth) => {
      const [x, y] = center(nth);
      return box(LEFT + 4 + x - side / 2, TOP + y - side / 2, side, side, nth < held ? "admitted" : "empty");
    });
    const label = `${held} of ${limit} slots held`;
    const next = nextFree === null ? "all are free" : `the next is free in ${duration(nextFree - now)}`;
    return [slots.join("") + text(WIDTH / 2, 18, label) + text(WIDTH / 2, 138, next, "small"), label];
  },
};

const drawn = new WeakMap();

// Draws a lane's state, with a label for screen readers.
export function draw(svg, drawing, now) {
  const [content, label] = drawings[drawing.kind](drawing, now);
  if (drawn.get(svg) === content) return;
  drawn.set(svg, content);
  svg.innerHTML = content;
  if (svg.getAttribute("aria-label") !== label) svg.setAttribute("aria-label", label);
}
