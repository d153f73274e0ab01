// The marks of the timeline. Each kind has a shape of its own, and none is drawn where one of its kind already is.

const COLOURS = ["ink", "faint", "line", "admitted", "queued", "refused", "chief"];
// How far below the line of a lane those who queued leave.
const BELOW = 8;

// The page's colours by name. A canvas knows no light-dark(): an element has to work them out.
export function palette(element) {
  const style = getComputedStyle(element);
  const colour = (name) => {
    element.style.color = `var(--${name})`;
    return style.color;
  };
  return Object.fromEntries(COLOURS.map((name) => [name, colour(name)]));
}

export function stroke(pen, from, to) {
  pen.beginPath();
  pen.moveTo(...from);
  pen.lineTo(...to);
  pen.stroke();
}

export class Marks {
  #drawn = new Set();

  constructor(pen, size, colours) {
    this.pen = pen;
    this.size = size;
    this.colours = colours;
  }

  // Those who came at once: a mark for each kind of them, and how many they are.
  together(kinds, x, y) {
    let row = y - (kinds.size - 1) * 6;
    for (const [kind, count] of kinds) {
      this.put(kind, x, row, this.colours[kind] ?? this.colours.ink);
      if (count > 1) {
        this.pen.font = "600 11px system-ui, sans-serif";
        this.pen.textAlign = "left";
        this.pen.fillText(count, x + 8, row + 4);
      }
      row += 12;
    }
  }

  // From when it came to when it leaves, or will.
  leave([from, to], y, gone) {
    if (!this.#isNew("leaves", to, y)) return;
    this.pen.strokeStyle = this.colours.queued;
    this.pen.lineWidth = 0.4;
    stroke(this.pen, [from, y], [to, y + BELOW]);
    this.#shape(gone ? "admitted" : "planned", to, y + BELOW, gone ? this.colours.admitted : this.colours.faint);
  }

  put(kind, x, y, colour) {
    if (this.#isNew(kind, x, y)) this.#shape(kind, x, y, colour);
  }

  #isNew(kind, x, y) {
    const place = `${kind} ${Math.round(x)} ${Math.round(y)}`;
    const isNew = !this.#drawn.has(place);
    this.#drawn.add(place);
    return isNew;
  }

  #shape(kind, x, y, colour) {
    const { pen } = this;
    const far = 4.2 * this.size;
    pen.beginPath();
    pen.lineWidth = 1.8 * this.size;
    pen.fillStyle = pen.strokeStyle = colour;
    switch (kind) {
      case "refused":
        pen.moveTo(x - far, y - far);
        pen.lineTo(x + far, y + far);
        pen.moveTo(x + far, y - far);
        pen.lineTo(x - far, y + far);
        return pen.stroke();
      case "queued":
        pen.moveTo(x, y - 1.2 * far);
        pen.lineTo(x + 1.2 * far, y);
        pen.lineTo(x, y + 1.2 * far);
        pen.lineTo(x - 1.2 * far, y);
        pen.closePath();
        return pen.stroke();
      case "planned":
        pen.arc(x, y, far, 0, 7);
        return pen.stroke();
      default:
        pen.arc(x, y, far, 0, 7);
        return pen.fill();
    }
  }
}
