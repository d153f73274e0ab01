// The six lanes: the counts of each, and a drawing of its state.

import { draw } from "./drawings.js";
import { seconds } from "./format.js";
import { write } from "./text.js";

const lane = ({ name, title, description }) => `
  <article class="lane" id="lane-${name}" aria-labelledby="title-${name}">
    <h2 id="title-${name}">${title}</h2>
    <p class="description">${description}</p>
    <svg class="drawing" viewBox="0 0 240 150" role="img" aria-label="${title}"></svg>
    <dl class="counts">
      <div><dt>admitted</dt><dd data-count="admitted">0</dd></div>
      <div><dt>queued</dt><dd data-count="queued">0</dd></div>
      <div><dt>denied</dt><dd data-count="denied">0</dd></div>
      <div hidden><dt>unchecked</dt><dd data-count="unchecked">0</dd></div>
    </dl>
    <p class="most">at most <b data-most="span">0</b> in <span data-length="span"></span>,
      <b data-most="window">0</b> in <span data-length="window"></span>
      <span class="badge" hidden></span></p>
    <p class="why"></p>
    <p class="said"></p>
    <details><summary>Last response</summary><pre>none yet</pre></details>
  </article>`;

export class Lanes {
  constructor(element) {
    this.element = element;
  }

  session({ lanes, settings, span }) {
    this.limit = settings.limit;
    const names = lanes.map(({ name }) => name).join();
    if (this.names !== names) this.element.innerHTML = lanes.map(lane).join("");
    this.names = names;
    this.articles = [...this.element.children].map((article, nth) => ({
      article,
      limitsRate: lanes[nth].limits_rate,
      drawing: article.querySelector(".drawing"),
      counts: [...article.querySelectorAll("[data-count]")],
      unchecked: article.querySelector("[data-count=unchecked]").parentElement,
      span: article.querySelector("[data-most=span]"),
      window: article.querySelector("[data-most=window]"),
      badge: article.querySelector(".badge"),
      explanation: article.querySelector(".why"),
      summary: article.querySelector(".said"),
      response: article.querySelector("pre"),
    }));
    for (const { article, summary, response } of this.articles) {
      write(article.querySelector("[data-length=span]"), seconds(span, span % 1e6 ? 1 : 0));
      write(article.querySelector("[data-length=window]"), `${settings.window} s`);
      write(summary, "");
      write(response, "none yet");
    }
  }

  frame({ now, lanes }) {
    lanes.forEach((state, lane) => this.#update(this.articles[lane], state, now));
  }

  #update(parts, state, now) {
    if (state.drawing) draw(parts.drawing, state.drawing, now);
    for (const count of parts.counts) write(count, state[count.dataset.count]);
    parts.unchecked.hidden = state.unchecked === 0;
    write(parts.span, state.max_in_span);
    write(parts.window, state.max_in_window);
    write(parts.explanation, state.explanation);
    const over = parts.limitsRate ? Math.max(0, state.max_in_window - this.limit) : 0;
    write(parts.badge, `${over} over the limit`);
    parts.badge.hidden = over === 0;
    parts.article.classList.toggle("over", over > 0);
    if (state.summary) write(parts.summary, state.summary);
    if (state.response) write(parts.response, state.response);
  }
}
