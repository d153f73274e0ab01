// The way to the server: a scene comes as events, commands go as requests. A scene that is lost goes on from where it was.

const AGAIN_AFTER = 500;

export class Connection {
  #events = null;
  #scene = null;
  // The scene's time, to go on from.
  #now = 0;
  #timer = 0;
  #rests = false;

  // Commands go one after the other, so that they arrive in order.
  #sent = Promise.resolve();
  // Whether there is a scene to play: not if its address is wrong.
  #wanted = false;

  // `hears` has a function per kind of event, and `state` for how the connection is.
  constructor(hears) {
    this.hears = hears;
    // A browser has few connections to a server, and all its windows share them.
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#rest() : this.#wake()));
  }

  // Plays the scene that the page's address describes, in place of the one before.
  open() {
    this.hears.state("connecting", "connecting");
    this.#wanted = true;
    this.#now = 1000 * (new URLSearchParams(location.search).get("at") ?? 0);
    this.#play(location.search);
  }

  #play(search) {
    this.#close();
    if (document.hidden) return this.#rest();
    const events = new EventSource("scene" + search);
    this.#events = events;
    events.addEventListener("scene", (event) => {
      const scene = JSON.parse(event.data);
      this.#scene = scene.id;
      this.hears.scene(scene);
      this.hears.state("live", "live");
    });
    events.addEventListener("frame", (event) => {
      const frame = JSON.parse(event.data);
      this.#now = frame.now;
      this.hears.frame(frame);
    });
    events.addEventListener("wrong", (event) => {
      this.#close();
      this.#wanted = false;
      this.hears.wrong(JSON.parse(event.data));
      this.hears.state("wrong", "not started");
    });
    // The browser would go on with the address of the first try; the scene may have moved on since.
    events.addEventListener("error", () => this.#lost());
  }

  // Tells the scene what its user wants.
  send(command) {
    const scene = this.#scene;
    if (!scene) return;
    this.#sent = this.#sent.then(async () => {
      const answer = await fetch(`scenes/${scene}/${command}`, { method: "POST" }).catch(() => null);
      // There may be another in its place by now, which is not lost.
      if (!answer?.ok && scene === this.#scene) this.#lost();
    });
  }

  #lost() {
    this.#close();
    this.hears.state("lost", "the server is gone: trying again");
    this.#timer = setTimeout(() => this.#goOn(), AGAIN_AFTER);
  }

  #rest() {
    if (!this.#wanted) return;
    this.#close();
    this.#rests = true;
    this.hears.state("resting", "resting while nobody looks");
  }

  #wake() {
    if (this.#rests) this.#goOn();
  }

  #goOn() {
    const search = new URLSearchParams(location.search);
    search.set("at", this.#now / 1000);
    this.#play(`?${search}`);
  }

  #close() {
    clearTimeout(this.#timer);
    this.#events?.close();
    this.#events = null;
    this.#scene = null;
    this.#rests = false;
  }
}
