// The controls of the nodes: requests and streams to each.

import { seconds } from "./format.js";
import { PageControls, byId } from "./page_controls.js";

const FIELDS = ["limit", "window", "lease", "rate"];
const NODES = ["a", "b"];

export class NodeControls extends PageControls {
  #streaming = [false, false];

  constructor(connection) {
    const buttons = NODES.flatMap((node, nth) => [
      [`one-${node}`, () => this.send(`one.${node}`)],
      [`stream-${node}`, () => this.#toggle(node, nth)],
    ]);
    super(connection, FIELDS, Object.fromEntries(buttons));
  }

  frame(frame) {
    this.#streaming = frame.nodes.map(({ streaming }) => streaming);
    byId("now").textContent = seconds(frame.now);
    NODES.forEach((node, nth) => (byId(`stream-${node}`).ariaPressed = this.#streaming[nth]));
    this.showNotice(frame);
    this.updateUrl({ play: frame.play });
  }

  // Toggles optimistically: the next frame confirms it.
  #toggle(node, nth) {
    this.send(`${this.#streaming[nth] ? "stop" : "stream"}.${node}`);
    this.#streaming[nth] = !this.#streaming[nth];
  }
}
