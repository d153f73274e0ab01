// The way to the server: a scene comes as events, commands go as requests. A scene that is lost is opened again from its address.

const AGAIN_AFTER = 500;

export class Connection {
  #events = null;
  #scene = null;
  #timer = 0;
  #now = 0;

  // `hears` has a function per kind of event, and `state` for how the connection is.
  constructor(hears) {
    this.hears = hears;
  }

  // Plays the scene that the page's address describes, in place of the one before.
  open() {
    this.hears.state("connecting", "connecting");
    this.#play(location.search);
  }

  #play(search) {
    this.#close();
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
      this.hears.wrong(JSON.parse(event.data));
      this.hears.state("wrong", "not started");
    });
    // The browser would go on with the address of the first try; the scene may have moved on since.
    events.addEventListener("error", () => this.#lost());
  }

  // Tells the scene what its user wants.
  async send(command) {
    if (!this.#scene) return;
    try {
      const answer = await fetch(`scenes/${this.#scene}/${command}`, { method: "POST" });
      if (!answer.ok) this.#lost();
    } catch {
      this.#lost();
    }
  }

  // Goes on from where it was.
  #lost() {
    this.#close();
    this.hears.state("lost", "the server is gone: trying again");
    const search = new URLSearchParams(location.search);
    search.set("at", Math.floor(this.#now / 1000));
    this.#timer = setTimeout(() => this.#play(`?${search}`), AGAIN_AFTER);
  }

  #close() {
    clearTimeout(this.#timer);
    this.#events?.close();
    this.#events = null;
    this.#scene = null;
  }
}
