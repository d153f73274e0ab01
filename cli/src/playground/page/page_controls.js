// What the controls of both pages share: buttons, shortcuts and settings. The page's URL contains the session: a setting changes the
// URL, which starts a new session.

// A value that a number input accepts.
const NUMBER = /^-?\d+(\.\d+)?$/;
// Milliseconds that the confirmation is shown.
const COPIED_DURATION = 2000;

export const byId = (id) => document.getElementById(id);

export class PageControls {
  // Invalid URL parameters that have no input, which a restart removes.
  #invalidParameters = {};

  // `fields` are the settings, and `buttons` has a function per button. Only one button is repeated while its key is held down.
  constructor(connection, fields, buttons, repeated = null) {
    this.connection = connection;
    this.fields = fields;
    this.form = byId("settings");
    const shared = {
      restart: () => this.#start({ play: null, at: null, ...this.#invalidParameters }),
      share: () => this.#share(),
    };
    const keys = new Map();
    for (const [id, click] of Object.entries({ ...buttons, ...shared })) {
      const button = byId(id);
      button.addEventListener("click", click);
      if (button.ariaKeyShortcuts) keys.set(button.ariaKeyShortcuts, button);
    }
    addEventListener("keydown", (event) => {
      const isTyping = event.target.closest("input:not([type=checkbox]), select");
      const button = keys.get(event.key);
      const isIgnoredRepeat = event.repeat && button?.id !== repeated;
      if (!button || !byId("keys").checked || isTyping || isIgnoredRepeat || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      button.click();
    });
    byId("keys").checked = localStorage.getItem("keys") !== "off";
    byId("keys").addEventListener("change", (event) => localStorage.setItem("keys", event.target.checked ? "on" : "off"));
    this.form.addEventListener("change", ({ target }) => {
      if (this.fields.includes(target.name)) this.#start({ play: null, at: null, [target.name]: target.value || null });
    });
    this.form.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("popstate", () => this.connection.open());
  }

  session({ settings }) {
    for (const field of this.fields) {
      this.#field(field).value = settings[field];
      this.#field(field).ariaInvalid = "false";
    }
    byId("wrong").hidden = true;
    this.#invalidParameters = {};
  }

  invalid(errors) {
    for (const field of this.fields) this.#field(field).ariaInvalid = String(field in errors);
    this.#invalidParameters = Object.fromEntries(
      Object.keys(errors)
        .filter((name) => !this.fields.includes(name))
        .map((name) => [name, null]),
    );
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
    for (const field of this.fields) {
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

  send(command) {
    this.connection.send(command);
  }

  // Updates the URL without a history entry.
  updateUrl(changes) {
    const url = this.#url(changes);
    if (url !== location.pathname + location.search) history.replaceState(null, "", url);
  }

  showNotice({ store_error: storeError, is_full: isFull }) {
    const notice = storeError ? `The store failed: ${storeError}` : isFull ? "This session is full: start over." : "";
    const element = byId("trouble");
    if (element.textContent !== notice) element.textContent = notice;
    element.hidden = !notice;
  }

  #field(name) {
    return this.form.elements.namedItem(name);
  }

  // Starts a new session with changed parameters.
  #start(changes) {
    history.pushState(null, "", this.#url(changes));
    this.connection.open();
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
