// The controls of the lanes: requests, simulated time, and what to look for in an overload.

import { seconds } from "./format.js";
import { PageControls, byId } from "./page_controls.js";
import { write } from "./text.js";

const FIELDS = ["limit", "window", "capacity", "sub_windows", "lease", "duration", "burst", "rate"];

export class Controls extends PageControls {
  #frame = { paused: false, streaming: false };

  constructor(connection) {
    const buttons = {
      one: () => this.send("one"),
      burst: () => this.send("burst"),
      stream: () => this.#toggle("streaming", "stop", "stream"),
      edge: () => this.send("edge"),
      overload: () => this.send("overload"),
      pause: () => this.#toggle("paused", "resume", "pause"),
      step: () => this.send("step"),
      next: () => this.send("next"),
    };
    super(connection, FIELDS, buttons, "step");
    byId("speed").addEventListener("change", (event) => {
      this.send(`${event.target.value}x`);
      // Shortcuts work again.
      event.target.blur();
    });
  }

  session(session) {
    super.session(session);
    byId("burst-size").textContent = session.settings.burst;
    byId("step-size").textContent = seconds(session.step);
    byId("store").textContent = session.store === "redis" ? "on Redis" : "in memory";
  }

  frame(frame) {
    this.#frame = frame;
    byId("now").textContent = seconds(frame.now);
    byId("pause").ariaPressed = frame.paused;
    byId("stream").ariaPressed = frame.streaming;
    if (document.activeElement !== byId("speed")) byId("speed").value = frame.speed;
    this.#showHint(frame);
    this.showNotice(frame);
    // The URL of a paused session contains its time.
    const { play, speed, paused, now } = frame;
    this.updateUrl({
      play,
      speed: speed === "1" ? null : speed,
      paused: paused ? "yes" : null,
      at: paused ? String(now / 1000) : null,
    });
  }

  // Toggles optimistically: the next frame confirms it.
  #toggle(field, off, on) {
    this.send(this.#frame[field] ? off : on);
    this.#frame = { ...this.#frame, [field]: !this.#frame[field] };
  }

  // It stays the same while an overload lasts, so that a screen reader announces it once.
  #showHint({ overload_end: end }) {
    const hint = `Overload until ${seconds(end ?? 0, 1)}: five times the limit arrives, and from the second window on each lane passes \
as many per window as it can sustain; compare which requests pass, and what Retry-After tells the others.`;
    write(byId("hint"), end === null ? "" : hint);
    byId("hint").hidden = end === null;
  }
}
