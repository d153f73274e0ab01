// The connection to the server: events of the session, and commands to it. After a disconnect, the session resumes at its time.

const RECONNECT_DELAY = 500;

export class Connection {
  #events = null;
  #session = null;
  // The session's time, to resume at.
  #now = 0;
  #timer = 0;
  #isSuspended = false;

  // Commands are sent one after the other, so that they arrive in order.
  #lastCommand = Promise.resolve();
  // False if the URL is invalid: then there is no session to resume.
  #isValid = false;

  // `handlers` has a function per event, and `state` for the state of the connection; `paths` has those of events and commands.
  constructor(handlers, paths) {
    this.handlers = handlers;
    this.paths = paths;
    // A browser limits its connections to a server, and all tabs share them, so a hidden tab disconnects.
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#suspend() : this.#wake()));
  }

  // Starts the session of the page's URL, and ends the previous one.
  open() {
    this.handlers.state("connecting", "connecting");
    this.#isValid = true;
    this.#now = 1000 * (new URLSearchParams(location.search).get("at") ?? 0);
    this.#start(location.search);
  }

  #start(search) {
    this.#close();
    if (document.hidden) return this.#suspend();
    const events = new EventSource(this.paths.events + search);
    this.#events = events;
    events.addEventListener("session", (event) => {
      const session = JSON.parse(event.data);
      this.#session = session.id;
      this.handlers.session(session);
      this.handlers.state("live", "live");
    });
    events.addEventListener("frame", (event) => {
      const frame = JSON.parse(event.data);
      this.#now = frame.now;
      this.handlers.frame(frame);
    });
    events.addEventListener("invalid", (event) => {
      this.#close();
      this.#isValid = false;
      this.handlers.invalid(JSON.parse(event.data));
      this.handlers.state("wrong", "not started");
    });
    events.addEventListener("no_redis", () => {
      this.#close();
      this.#isValid = false;
      this.handlers.no_redis();
      this.handlers.state("wrong", "not started");
    });
    // The browser's own reconnect would use the first URL, with an outdated time.
    events.addEventListener("error", () => this.#disconnected());
  }

  send(command) {
    const session = this.#session;
    if (!session) return;
    this.#lastCommand = this.#lastCommand.then(async () => {
      const response = await fetch(`${this.paths.commands}/${session}/${command}`, { method: "POST" }).catch(() => null);
      // A failed command of a previous session does not affect the current one.
      if (!response?.ok && session === this.#session) this.#disconnected();
    });
  }

  #disconnected() {
    this.#close();
    this.handlers.state("lost", "server unreachable: reconnecting");
    this.#timer = setTimeout(() => this.#resume(), RECONNECT_DELAY);
  }

  #suspend() {
    if (!this.#isValid) return;
    this.#close();
    this.#isSuspended = true;
    this.handlers.state("resting", "suspended while the tab is hidden");
  }

  #wake() {
    if (this.#isSuspended) this.#resume();
  }

  #resume() {
    const search = new URLSearchParams(location.search);
    search.set("at", this.#now / 1000);
    this.#start(`?${search}`);
  }

  #close() {
    clearTimeout(this.#timer);
    this.#events?.close();
    this.#events = null;
    this.#session = null;
    this.#isSuspended = false;
  }
}
