// The limit in Redis: a bar with the units that are used, those that nodes hold, and those that remain.

import { seconds } from "./format.js";
import { write } from "./text.js";

const [LEFT, WIDTH] = [14, 212];

export class RedisCard {
  constructor(element) {
    this.element = element;
    this.part = (name) => element.querySelector(`[data-part=${name}]`);
  }

  session({ settings }) {
    this.limit = settings.limit;
    write(this.element.querySelector("[data-limit]"), `${settings.limit} in ${settings.window} s`);
  }

  frame({ nodes, redis }) {
    const sum = (value) => nodes.reduce((total, node) => total + value(node), 0);
    const admitted = sum(({ leased, admitted }) => leased + admitted);
    write(this.part("admitted"), admitted);
    write(this.part("unleased_admitted"), sum(({ unleased }) => unleased.admitted));
    write(this.part("calls"), sum(({ calls }) => calls));
    write(this.part("unleased_calls"), sum(({ unleased }) => unleased.calls));
    if (redis === null) return;
    const held = nodes.map((node) => node.held);
    // Redis and the nodes are not read at the same instant, so what is held may be newer than what remains.
    const used = Math.max(0, this.limit - redis.remaining - held[0] - held[1]);
    const values = { used, held_a: held[0], held_b: held[1], remaining: redis.remaining };
    for (const [name, value] of Object.entries(values)) write(this.part(name), value);
    write(this.part("ends"), redis.ends_in > 0 ? `ends in ${seconds(redis.ends_in, 1)}` : "begins with the next request");
    this.#draw(values);
  }

  #draw(values) {
    const label = `${values.used} used, A holds ${values.held_a}, B holds ${values.held_b}, ${values.remaining} remain`;
    const drawing = this.element.querySelector(".drawing");
    if (drawing.getAttribute("aria-label") === label) return;
    let x = LEFT;
    const bar = (name, value) => {
      const width = (WIDTH * value) / this.limit;
      const rect = `<rect x="${x.toFixed(1)}" y="34" width="${width.toFixed(1)}" height="26" class="${name}"/>`;
      x += width;
      return rect;
    };
    const bars = [bar("bar", values.used), bar("held", values.held_a), bar("held second", values.held_b)].join("");
    const frame = `<rect x="${LEFT}" y="34" width="${WIDTH}" height="26" class="frame"/>`;
    drawing.innerHTML = `<text x="120" y="18" text-anchor="middle">${values.remaining} of ${this.limit} remain</text>${bars}${frame}`;
    drawing.setAttribute("aria-label", label);
  }
}
