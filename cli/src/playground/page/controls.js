// What the user can press and set. The scene is in the page's address: what is set there is what is played.

import { seconds } from "./words.js";

const FIELDS = ["limit", "window", "capacity", "buckets", "burst", "rate"];
// What fits into a field for numbers.
const NUMBER = /^-?\d+(\.\d+)?$/;
const COPIED_FOR = 2000;

const byId = (id) => document.getElementById(id);

export class Controls {
  #frame = { paused: false, streaming: false };
  // What is wrong in the address and has no field to set it right in.
  #unfit = {};

  constructor(connection) {
    this.connection = connection;
    this.form = byId("settings");
    const buttons = {
      one: () => this.#send("one"),
      burst: () => this.#send("burst"),
      stream: () => this.#toggle("streaming", "stop", "stream"),
      edge: () => this.#send("edge"),
      pause: () => this.#toggle("paused", "resume", "pause"),
      step: () => this.#send("step"),
      next: () => this.#send("next"),
      restart: () => this.#play({ play: null, at: null, ...this.#unfit }),
      share: () => this.#share(),
    };
    const keys = new Map();
    for (const [id, press] of Object.entries(buttons)) {
      const button = byId(id);
      button.addEventListener("click", press);
      if (button.ariaKeyShortcuts) keys.set(button.ariaKeyShortcuts, button);
    }
    addEventListener("keydown", (event) => {
      const writes = event.target.closest("input:not([type=checkbox]), select");
      const button = keys.get(event.key);
      // Whoever holds a key down wants to go on, and nothing else many times.
      const again = event.repeat && button !== byId("step");
      if (!button || !byId("keys").checked || writes || again || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      button.click();
    });
    byId("speed").addEventListener("change", (event) => {
      this.#send(`${event.target.value}x`);
      // So that keys are for the scene again.
      event.target.blur();
    });
    byId("keys").checked = localStorage.getItem("keys") !== "off";
    byId("keys").addEventListener("change", (event) => localStorage.setItem("keys", event.target.checked ? "on" : "off"));
    this.form.addEventListener("change", ({ target }) => {
      if (FIELDS.includes(target.name)) this.#play({ play: null, at: null, [target.name]: target.value || null });
    });
    this.form.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("popstate", () => this.connection.open());
  }

  scene({ settings, step, store }) {
    for (const field of FIELDS) {
      this.#field(field).value = settings[field];
      this.#field(field).ariaInvalid = "false";
    }
    byId("burst-size").textContent = settings.burst;
    byId("step-size").textContent = seconds(step);
    byId("store").textContent = store === "redis" ? "on Redis" : "in memory";
    byId("wrong").hidden = true;
    this.#unfit = {};
  }

  frame(frame) {
    this.#frame = frame;
    byId("now").textContent = seconds(frame.now);
    byId("pause").ariaPressed = frame.paused;
    byId("stream").ariaPressed = frame.streaming;
    if (document.activeElement !== byId("speed")) byId("speed").value = frame.speed;
    this.#trouble(frame);
    this.#follow(frame);
  }

  wrong(wrong) {
    for (const field of FIELDS) this.#field(field).ariaInvalid = String(field in wrong);
    this.#unfit = Object.fromEntries(Object.keys(wrong).filter((name) => !FIELDS.includes(name)).map((name) => [name, null]));
    const said = Object.entries(wrong).map(([field, must]) => {
      const input = this.#field(field);
      const name = input?.closest("label").firstChild.textContent.trim() ?? field;
      return `${name}: ${must}.`;
    });
    byId("wrong").textContent = said.join(" ");
    byId("wrong").hidden = false;
    byId("wrong").scrollIntoView({ block: "nearest" });
    // What is wrong stays to be seen, and to be set right.
    const asked = new URLSearchParams(location.search);
    for (const field of FIELDS) {
      const value = asked.get(field);
      if (value !== null) this.#field(field).value = NUMBER.test(value) ? value : "";
    }
  }

  state(state, words) {
    const connection = byId("connection");
    if (connection.dataset.state === state) return;
    connection.dataset.state = state;
    connection.textContent = words;
    // What is disabled in earnest would lose the focus.
    for (const button of document.querySelectorAll(".presses button, .time button, #speed")) button.ariaDisabled = state !== "live";
  }

  #field(name) {
    return this.form.elements.namedItem(name);
  }

  #send(command) {
    this.connection.send(command);
  }

  // Goes by what was sent last, which the next frame will tell, too.
  #toggle(what, off, on) {
    this.#send(this.#frame[what] ? off : on);
    this.#frame = { ...this.#frame, [what]: !this.#frame[what] };
  }

  // Plays another scene: as the address says, but for what is changed.
  #play(changes) {
    history.pushState(null, "", this.#address(changes));
    this.connection.open();
  }

  // Keeps the address the scene's own, without a step that Back would undo. A scene that stands still is opened where it stands.
  #follow({ play, speed, paused, now }) {
    const address = this.#address({
      play,
      speed: speed === "1" ? null : speed,
      paused: paused ? "yes" : null,
      at: paused ? String(now / 1000) : null,
    });
    if (address !== location.pathname + location.search) history.replaceState(null, "", address);
  }

  #address(changes) {
    const asked = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(changes)) {
      if (value) asked.set(name, value);
      else asked.delete(name);
    }
    const search = asked.toString();
    return location.pathname + (search && `?${search}`);
  }

  #trouble({ trouble, full }) {
    const said = trouble ? `The store cannot be asked: ${trouble}` : full ? "No more fits into this scene: start over." : "";
    const place = byId("trouble");
    if (place.textContent !== said) place.textContent = said;
    place.hidden = !said;
  }

  async #share() {
    const button = byId("share");
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Copied";
    } catch {
      // Only secure pages may write there: the address bar has it, too.
      button.textContent = "Copy it from the address bar";
    }
    setTimeout(() => (button.textContent = "Copy link"), COPIED_FOR);
  }
}
