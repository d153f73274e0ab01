// Puts the page together: what the scene tells is drawn, what the user does is told to the scene.

import { Connection } from "./connection.js";
import { Controls } from "./controls.js";
import { Lanes } from "./lanes.js";
import { News } from "./news.js";
import { Table } from "./table.js";
import { Timeline } from "./timeline.js";

const lanes = new Lanes(document.getElementById("lanes"));
const timeline = new Timeline(document.getElementById("timeline"));
const table = new Table(document.getElementById("requests"));
const news = new News(document.getElementById("news"));

// Frames may come faster than they can be drawn: those that wait are told as one, and drawing takes half of the time at most,
// so that whoever presses is heard.
let waiting = [];
let took = 0;

const together = (frames) => {
  const last = frames.at(-1);
  const said = (lane, word) => frames.findLast((frame) => frame.lanes[lane][word])?.lanes[lane][word];
  return {
    ...last,
    requests: frames.flatMap(({ requests }) => requests),
    lanes: last.lanes.map((shown, lane) => ({ ...shown, said: said(lane, "said"), answer: said(lane, "answer") })),
  };
};

const show = () => {
  if (waiting.length === 0) return;
  const begun = performance.now();
  const frame = together(waiting);
  waiting = [];
  controls.frame(frame);
  lanes.frame(frame);
  timeline.frame(frame);
  table.frame(frame);
  news.frame(frame);
  took = performance.now() - begun;
};

const connection = new Connection({
  scene(scene) {
    waiting = [];
    controls.scene(scene);
    lanes.scene(scene);
    timeline.scene(scene);
    table.scene(scene);
    news.scene(scene);
  },
  frame(frame) {
    if (waiting.push(frame) === 1) setTimeout(() => requestAnimationFrame(show), took);
  },
  wrong: (wrong) => controls.wrong(wrong),
  state: (state, words) => controls.state(state, words),
});
const controls = new Controls(connection);

connection.open();
