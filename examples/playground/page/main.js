// Puts the page together: what the scene tells is drawn, what the user does is told to the scene.

import { Connection } from "./connection.js";
import { Controls } from "./controls.js";
import { Lanes } from "./lanes.js";
import { News } from "./news.js";
import { Timeline } from "./timeline.js";

const lanes = new Lanes(document.getElementById("lanes"));
const timeline = new Timeline(document.getElementById("timeline"), document.getElementById("requests"));
const news = new News(document.getElementById("news"));

const connection = new Connection({
  scene(scene) {
    controls.scene(scene);
    lanes.scene(scene);
    timeline.scene(scene);
    news.scene(scene);
  },
  frame(frame) {
    controls.frame(frame);
    lanes.frame(frame);
    timeline.frame(frame);
    news.frame(frame);
  },
  wrong: (wrong) => controls.wrong(wrong),
  state: (state, words) => controls.state(state, words),
});
const controls = new Controls(connection);

connection.open();
