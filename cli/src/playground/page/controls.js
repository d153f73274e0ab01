// Buttons, shortcuts and settings. The page's URL contains the session: a setting changes the URL, which starts a new session.

import { seconds } from "./format.js";

const FIELDS = ["limit", "window", "capacity", "sub_windows", "lease", "duration", "burst", "rate"];
// A value that a number input accepts.
const NUMBER = /^-?\d+(\.\d+)?$/;
// Milliseconds that the confirmation is shown.
const COPIED_DURATION = 2000;

const byId = (id) => document.getElementById(id);

export class Controls {
  #frame = { paused: false, streaming: false };
  // Invalid URL parameters that have no input, which a restart removes.
  #invalidParameters = {};

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
      restart: () => this.#start({ play: null, at: null, ...this.#invalidParameters }),
      share: () => this.#share(),
    };
    const keys = new Map();
    for (const [id, click] of Object.entries(buttons)) {
      const button = byId(id);
      button.addEventListener("click", click);
      if (button.ariaKeyShortcuts) keys.set(button.ariaKeyShortcuts, button);
    }
    addEventListener("keydown", (event) => {
      const isTyping = event.target.closest("input:not([type=checkbox]), select");
      const button = keys.get(event.key);
      // Only steps are repeated while a key is held down.
      const isIgnoredRepeat = event.repeat && button !== byId("step");
      if (!button || !byId("keys").checked || isTyping || isIgnoredRepeat || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      button.click();
    });
    byId("speed").addEventListener("change", (event) => {
      this.#send(`${event.target.value}x`);
      // Shortcuts work again.
      event.target.blur();
    });
    byId("keys").checked = localStorage.getItem("keys") !== "off";
    byId("keys").addEventListener("change", (event) => localStorage.setItem("keys", event.target.checked ? "on" : "off"));
    this.form.addEventListener("change", ({ target }) => {
      if (FIELDS.includes(target.name)) this.#start({ play: null, at: null, [target.name]: target.value || null });
    });
    this.form.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("popstate", () => this.connection.open());
  }

  session({ settings, step, store }) {
    for (const field of FIELDS) {
      this.#field(field).value = settings[field];
      this.#field(field).ariaInvalid = "false";
    }
    byId("burst-size").textContent = settings.burst;
    byId("step-size").textContent = seconds(step);
    byId("store").textContent = store === "redis" ? "on Redis" : "in memory";
    byId("wrong").hidden = true;
    this.#invalidParameters = {};
  }

  frame(frame) {
    this.#frame = frame;
    byId("now").textContent = seconds(frame.now);
    byId("pause").ariaPressed = frame.paused;
    byId("stream").ariaPressed = frame.streaming;
    if (document.activeElement !== byId("speed")) byId("speed").value = frame.speed;
    this.#showNotice(frame);
    this.#updateUrl(frame);
  }

  invalid(errors) {
    for (const field of FIELDS) this.#field(field).ariaInvalid = String(field in errors);
    this.#invalidParameters = Object.fromEntries(Object.keys(errors).filter((name) => !FIELDS.includes(name)).map((name) => [name, null]));
    const messages = Object.entries(errors).map(([field, message]) => {
      const input = this.#field(field);
      const name = input?.closest("label").firstChild.textContent.trim() ?? field;
      return `${name}: ${message}.`;
    });
    byId("wrong").textContent = messages.join(" ");
    byId("wrong").hidden = false;
    byId("wrong").scrollIntoView({ block: "nearest" });
    // The inputs keep the invalid values, to be corrected.
    const parameters = new URLSearchParams(location.search);
    for (const field of FIELDS) {
      const value = parameters.get(field);
      if (value !== null) this.#field(field).value = NUMBER.test(value) ? value : "";
    }
  }

  state(state, text) {
    const connection = byId("connection");
    if (connection.dataset.state === state) return;
    connection.dataset.state = state;
    connection.textContent = text;
    // aria-disabled, because a disabled element loses the focus.
    for (const button of document.querySelectorAll(".presses button, .time button, #speed")) button.ariaDisabled = state !== "live";
  }

  #field(name) {
    return this.form.elements.namedItem(name);
  }

  #send(command) {
    this.connection.send(command);
  }

  // Toggles optimistically: the next frame confirms it.
  #toggle(field, off, on) {
    this.#send(this.#frame[field] ? off : on);
    this.#frame = { ...this.#frame, [field]: !this.#frame[field] };
  }

  // Starts a new session with changed parameters.
  #start(changes) {
    history.pushState(null, "", this.#url(changes));
    this.connection.open();
  }

  // Updates the URL without a history entry. The URL of a paused session contains its time.
  #updateUrl({ play, speed, paused, now }) {
    const url = this.#url({
      play,
      speed: speed === "1" ? null : speed,
      paused: paused ? "yes" : null,
      at: paused ? String(now / 1000) : null,
    });
    if (url !== location.pathname + location.search) history.replaceState(null, "", url);
  }

  #url(changes) {
    const parameters = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(changes)) {
      if (value) parameters.set(name, value);
      else parameters.delete(name);
    }
    const search = parameters.toString();
    return location.pathname + (search && `?${search}`);
  }

  #showNotice({ store_error: storeError, is_full: isFull }) {
    const notice = storeError ? `The store failed: ${storeError}` : isFull ? "This session is full: start over." : "";
    const element = byId("trouble");
    if (element.textContent !== notice) element.textContent = notice;
    element.hidden = !notice;
  }

  async #share() {
    const button = byId("share");
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Copied";
    } catch {
      // The clipboard requires a secure context.
      button.textContent = "Copy it from the address bar";
    }
    setTimeout(() => (button.textContent = "Copy link"), COPIED_DURATION);
  }
}
