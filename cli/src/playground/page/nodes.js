// Connects the parts of the page with two nodes: the session's events are drawn, and the user's commands are sent to the session.

import { Announcer } from "./announcer.js";
import { Connection } from "./connection.js";
import { NodeCards } from "./node_cards.js";
import { NodeControls } from "./node_controls.js";
import { NodeTable } from "./node_table.js";
import { RedisCard } from "./redis_card.js";
import { Timeline } from "./timeline.js";

const LANES = [{ title: "Node A" }, { title: "Node B" }];
const OUTCOMES = {
  leased: "admitted by a lease",
  admitted: "admitted by Redis",
  denied: "denied",
  failed: "without a decision",
};
const byId = (id) => document.getElementById(id);

const cards = new NodeCards([byId("node-a"), byId("node-b")]);
const redis = new RedisCard(byId("redis"));
const timeline = new Timeline(byId("timeline"));
const table = new NodeTable(byId("requests"), OUTCOMES);
const announcer = new Announcer(byId("news"), OUTCOMES);

// The timeline shows the requests of a node like those of a lane.
const lane = ({ leased, admitted }) => ({ admitted: leased + admitted, queued: 0, unchecked: 0 });

const connection = new Connection(
  {
    session(session) {
      byId("no-redis").hidden = true;
      controls.session(session);
      redis.session(session);
      // Windows begin with a request, so the axis shows whole seconds instead of their edges.
      timeline.session({ lanes: LANES, settings: session.settings, axisStep: Math.max(1, Math.round(session.settings.window / 5)) * 1e6 });
      table.session();
      announcer.session({ lanes: LANES });
    },
    frame(frame) {
      controls.frame(frame);
      cards.frame(frame);
      redis.frame(frame);
      timeline.frame({ ...frame, speed: "1", paused: false, planned: [], lanes: frame.nodes.map(lane) });
      table.frame(frame);
      announcer.frame(frame);
    },
    no_redis: () => (byId("no-redis").hidden = false),
    invalid: (errors) => controls.invalid(errors),
    state: (state, text) => controls.state(state, text),
  },
  { events: "nodes", commands: "nodes" },
);
const controls = new NodeControls(connection);

connection.open();
