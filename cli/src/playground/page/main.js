// Connects the parts of the page: the session's events are drawn, and the user's commands are sent to the session.

import { Announcer } from "./announcer.js";
import { Connection } from "./connection.js";
import { Controls } from "./controls.js";
import { Lanes } from "./lanes.js";
import { Table } from "./table.js";
import { Timeline } from "./timeline.js";

const lanes = new Lanes(document.getElementById("lanes"));
const timeline = new Timeline(document.getElementById("timeline"));
const table = new Table(document.getElementById("requests"));
const outcomes = { admitted: "admitted", queued: "queued", denied: "denied", unchecked: "unchecked" };
const announcer = new Announcer(document.getElementById("news"), outcomes);

// Frames may arrive faster than they can be drawn: pending frames are merged, and drawing takes at most half of the time, so
// that the page stays responsive.
let pending = [];
let lastDrawTime = 0;

const merge = (frames) => {
  const last = frames.at(-1);
  const lastValue = (lane, field) => frames.findLast((frame) => frame.lanes[lane][field])?.lanes[lane][field];
  return {
    ...last,
    requests: frames.flatMap(({ requests }) => requests),
    lanes: last.lanes.map((state, lane) => ({ ...state, summary: lastValue(lane, "summary"), response: lastValue(lane, "response") })),
  };
};

const draw = () => {
  if (pending.length === 0) return;
  const start = performance.now();
  const frame = merge(pending);
  pending = [];
  controls.frame(frame);
  lanes.frame(frame);
  timeline.frame(frame);
  table.frame(frame);
  announcer.frame(frame);
  lastDrawTime = performance.now() - start;
};

const handlers = {
  session(session) {
    pending = [];
    controls.session(session);
    lanes.session(session);
    timeline.session(session);
    table.session(session);
    announcer.session(session);
  },
  frame(frame) {
    if (pending.push(frame) === 1) setTimeout(() => requestAnimationFrame(draw), lastDrawTime);
  },
  invalid: (errors) => controls.invalid(errors),
  state: (state, text) => controls.state(state, text),
};
const connection = new Connection(handlers, { events: "scene", commands: "scenes" });
const controls = new Controls(connection);

connection.open();
