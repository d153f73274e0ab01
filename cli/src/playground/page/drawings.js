// What each algorithm remembers, drawn as it is. A drawing is 240 by 150; the numbers come from the store.

import { seconds } from "./words.js";

const WIDTH = 240;
const [LEFT, RIGHT, TOP, FLOOR] = [20, 220, 34, 118];

const circle = (x, y, r, kind) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${r.toFixed(1)}" class="${kind}"/>`;
const box = (x, y, width, height, kind) =>
  `<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${Math.max(0, width).toFixed(1)}" height="${Math.max(0, height).toFixed(1)}" class="${kind}"/>`;
const line = (x1, y1, x2, y2, kind) =>
  `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" class="${kind}"/>`;
const path = (d, kind) => `<path d="${d}" class="${kind}"/>`;
const text = (x, y, words, kind = "", anchor = "middle") =>
  `<text x="${x.toFixed(1)}" y="${y}" text-anchor="${anchor}" class="${kind}">${words}</text>`;

// Rows and columns for so many round things in a box, and how large they can be.
function grid(count, width, height) {
  let columns = 1;
  while (Math.ceil(count / columns) * (width / columns) > height) columns += 1;
  const size = width / columns;
  return { columns, size, place: (nth) => [(nth % columns) * size + size / 2, Math.floor(nth / columns) * size + size / 2] };
}

const within = (micros) => seconds(Math.max(0, micros), 1);

const drawings = {
  // Coins in a purse. The next one grows until it is whole.
  tokens({ tokens, left, capacity }) {
    const { size, place } = grid(capacity, RIGHT - LEFT - 16, FLOOR - TOP - 4);
    const coins = Array.from({ length: capacity }, (_, nth) => {
      const [x, y] = place(nth);
      const part = Math.min(1, Math.max(0, tokens - nth));
      const [cx, cy, r] = [LEFT + 8 + x, FLOOR - 4 - y, size * 0.42];
      return circle(cx, cy, r, "empty") + (part > 0 ? circle(cx, cy, r * Math.sqrt(part), part < 1 ? "growing" : "admitted") : "");
    });
    const purse = path(`M${LEFT} ${TOP - 8}V${FLOOR - 8}q0 10 10 10H${RIGHT - 10}q10 0 10-10V${TOP - 8}`, "frame");
    const said = `${left} of ${capacity} tokens`;
    return [purse + coins.join("") + text(WIDTH / 2, 18, said) + text(WIDTH / 2, 138, "they come back one by one", "small"), said];
  },

  // Water that leaks, and those who wait in it.
  queue({ level, waiting, capacity }) {
    const [top, floor, left, right] = [TOP - 4, FLOOR - 12, 40, 200];
    const height = ((floor - top) * Math.min(level, capacity)) / capacity;
    const water = box(left, floor - height, right - left, height, "water");
    const { size, place } = grid(capacity, right - left - 12, floor - top - 4);
    const r = size * 0.36;
    const waits = Array.from({ length: waiting }, (_, nth) => {
      const [x, y] = place(nth);
      const [cx, cy] = [left + 6 + x, floor - 2 - y];
      return path(`M${cx} ${cy - r}L${cx + r} ${cy}L${cx} ${cy + r}L${cx - r} ${cy}Z`, "queued");
    });
    const bucket = path(`M${left} ${top - 6}V${floor}H${WIDTH / 2 - 7}M${WIDTH / 2 + 7} ${floor}H${right}V${top - 6}`, "frame");
    // A drop falls while the last one that left leaks away.
    const falling = level > 0 ? 1 - (level % 1 || 1) : 0;
    const drop = level > 0 ? circle(WIDTH / 2, floor + 4 + falling * 22, 3.4, "admitted") : "";
    const said = `${waiting} waiting, ${Math.ceil(level)} of ${capacity} full`;
    return [water + waits.join("") + bucket + drop + text(WIDTH / 2, 18, said) + text(WIDTH / 2, 146, "they leave evenly", "small"), said];
  },

  // A box that is emptied at the edge, and how far that is.
  window({ used, limit, begins, ends }, now) {
    const { size, place } = grid(limit, RIGHT - LEFT - 8, FLOOR - TOP - 26);
    const cells = Array.from({ length: limit }, (_, nth) => {
      const [x, y] = place(nth);
      return circle(LEFT + 4 + x, TOP + 2 + y, size * 0.4, nth < used ? "admitted" : "empty");
    });
    const x = LEFT + ((RIGHT - LEFT) * (now - begins)) / (ends - begins);
    const axis =
      box(LEFT, TOP - 6, RIGHT - LEFT, FLOOR - TOP - 10, "frame") +
      line(LEFT, FLOOR, RIGHT, FLOOR, "frame") +
      line(x, FLOOR - 7, x, FLOOR + 7, "cursor");
    const edges = text(LEFT, 138, within(begins), "small") + text(RIGHT, 138, within(ends), "small");
    const said = `${used} of ${limit} in this window`;
    return [cells.join("") + axis + edges + text(WIDTH / 2, 18, said) + text(WIDTH / 2, 138, `anew in ${within(ends - now)}`, "small"), said];
  },

  // Every admitted request, on its way out of the window.
  log({ entries, limit, window }, now) {
    const at = (time) => RIGHT - ((RIGHT - LEFT) * (now - time)) / window;
    // Those who came together are stacked, as high as there is room.
    const heights = new Map();
    const stacked = entries.map((time) => {
      const together = Math.floor(time / (window / 40));
      heights.set(together, (heights.get(together) ?? -1) + 1);
      return [at(time), heights.get(together)];
    });
    const step = Math.min(8, (FLOOR - TOP - 6) / Math.max(1, ...heights.values()));
    const marks = stacked.map(([x, height]) => circle(x, FLOOR - 6 - height * step, 3.6, "admitted"));
    const axis =
      box(LEFT, TOP - 6, RIGHT - LEFT, FLOOR - TOP + 6, "span") +
      line(LEFT, FLOOR, RIGHT, FLOOR, "frame") +
      line(RIGHT, TOP - 6, RIGHT, FLOOR + 5, "cursor") +
      line(LEFT, TOP - 6, LEFT, FLOOR + 5, "frame");
    const ends = text(LEFT, 138, `${window / 1e6} s ago`, "small", "start") + text(RIGHT, 138, "now", "small", "end");
    const said = `${entries.length} of ${limit} remembered`;
    const next = entries.length > 0 ? text(WIDTH / 2, 138, `next out in ${within(entries[0] + window - now)}`, "small") : "";
    return [axis + marks.join("") + ends + next + text(WIDTH / 2, 18, said), said];
  },

  // A bar per sub-window, and the window that slides over them.
  counter({ counts, share, used, limit }) {
    const width = (RIGHT - LEFT) / counts.length;
    const highest = Math.max(limit, ...counts);
    const height = (count) => ((FLOOR - TOP) * count) / highest;
    const bars = counts.map((count, nth) => {
      const [x, wide] = [LEFT + nth * width + 1, width - 2];
      if (nth > 0) return box(x, FLOOR - height(count), wide, height(count), "bar");
      const counting = height(count) * share;
      return box(x, FLOOR - height(count), wide, height(count), "fading") + box(x, FLOOR - counting, wide, counting, "bar");
    });
    const numbers = counts.length > 9 ? [] : counts.map((count, nth) => text(LEFT + (nth + 0.5) * width, FLOOR + 12, count, "small"));
    const [begin, end] = [LEFT + (1 - share) * width, RIGHT - share * width];
    const slides = box(begin, TOP - 8, end - begin, FLOOR - TOP + 8, "span") + line(end, TOP - 8, end, FLOOR + 4, "cursor");
    // Of several sub-windows the limit is for all together, and no line for each.
    const bound = counts.length === 2 ? line(LEFT, FLOOR - height(limit), RIGHT, FLOOR - height(limit), "bound") : "";
    const said = `${used} of ${limit} by its estimate`;
    const oldest = text(WIDTH / 2, 144, `${Math.round(share * 100)}% of the oldest count`, "small");
    return [slides + bars.join("") + bound + line(LEFT, FLOOR, RIGHT, FLOOR, "frame") + numbers.join("") + oldest + text(WIDTH / 2, 18, said), said];
  },
};

const drawn = new WeakMap();

// Draws what a lane remembers, and says it to those who do not see it.
export function draw(svg, drawing, now) {
  const [inside, said] = drawings[drawing.kind](drawing, now);
  if (drawn.get(svg) === inside) return;
  drawn.set(svg, inside);
  svg.innerHTML = inside;
  if (svg.getAttribute("aria-label") !== said) svg.setAttribute("aria-label", said);
}
