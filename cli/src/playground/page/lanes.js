// The five lanes: what each has let through, and a drawing of what it remembers.

import { draw } from "./drawings.js";
import { seconds } from "./words.js";

const lane = ({ name, title, idea }) => `
  <article class="lane" id="lane-${name}" aria-labelledby="title-${name}">
    <h2 id="title-${name}">${title}</h2>
    <p class="idea">${idea}</p>
    <svg class="drawing" viewBox="0 0 240 150" role="img" aria-label="${title}"></svg>
    <dl class="counts">
      <div><dt>admitted</dt><dd data-count="admitted">0</dd></div>
      <div><dt>queued</dt><dd data-count="queued">0</dd></div>
      <div><dt>refused</dt><dd data-count="refused">0</dd></div>
      <div hidden><dt>unchecked</dt><dd data-count="unchecked">0</dd></div>
    </dl>
    <p class="most">at most <b data-most="span">0</b> in <span data-length="span"></span>,
      <b data-most="window">0</b> in <span data-length="window"></span>
      <span class="badge" hidden></span></p>
    <p class="why"></p>
    <p class="said"></p>
    <details><summary>Its last answer</summary><pre>nothing yet</pre></details>
  </article>`;

// Writing what is already there would make the browser lay the page out again.
const write = (element, text) => {
  if (element.textContent !== String(text)) element.textContent = text;
};

export class Lanes {
  constructor(place) {
    this.place = place;
  }

  scene({ lanes, settings, span }) {
    this.limit = settings.limit;
    const names = lanes.map(({ name }) => name).join();
    if (this.names !== names) this.place.innerHTML = lanes.map(lane).join("");
    this.names = names;
    this.articles = [...this.place.children].map((article) => ({
      article,
      drawing: article.querySelector(".drawing"),
      counts: [...article.querySelectorAll("[data-count]")],
      unchecked: article.querySelector("[data-count=unchecked]").parentElement,
      span: article.querySelector("[data-most=span]"),
      window: article.querySelector("[data-most=window]"),
      badge: article.querySelector(".badge"),
      why: article.querySelector(".why"),
      said: article.querySelector(".said"),
      answer: article.querySelector("pre"),
    }));
    for (const { article, said, answer } of this.articles) {
      write(article.querySelector("[data-length=span]"), seconds(span, span % 1e6 ? 1 : 0));
      write(article.querySelector("[data-length=window]"), `${settings.window} s`);
      write(said, "");
      write(answer, "nothing yet");
    }
  }

  frame({ now, lanes }) {
    lanes.forEach((shown, place) => this.#show(this.articles[place], shown, now));
  }

  #show(parts, shown, now) {
    if (shown.drawing) draw(parts.drawing, shown.drawing, now);
    for (const count of parts.counts) write(count, shown[count.dataset.count]);
    parts.unchecked.hidden = shown.unchecked === 0;
    write(parts.span, shown.most_in_span);
    write(parts.window, shown.most_in_window);
    write(parts.why, shown.why);
    const over = Math.max(0, shown.most_in_window - this.limit);
    write(parts.badge, `${over} over the limit`);
    parts.badge.hidden = over === 0;
    parts.article.classList.toggle("over", over > 0);
    if (shown.said) write(parts.said, shown.said);
    if (shown.answer) write(parts.answer, shown.answer);
  }
}
