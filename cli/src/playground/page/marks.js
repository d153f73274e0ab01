// The marks of the timeline. Each outcome has its own shape, and a mark is not drawn twice at the same position.

const COLORS = ["ink", "faint", "line", "admitted", "queued", "denied", "leased", "accent"];
// The offset of the marks of queued requests when they leave.
const LEAVE_OFFSET = 8;

// The page's colors by name. A canvas does not support light-dark(), so an element computes them.
export function palette(element) {
  const style = getComputedStyle(element);
  const color = (name) => {
    element.style.color = `var(--${name})`;
    return style.color;
  };
  return Object.fromEntries(COLORS.map((name) => [name, color(name)]));
}

export function stroke(pen, from, to) {
  pen.beginPath();
  pen.moveTo(...from);
  pen.lineTo(...to);
  pen.stroke();
}

export class Marks {
  #drawn = new Set();

  constructor(pen, size, colors) {
    this.pen = pen;
    this.size = size;
    this.colors = colors;
  }

  // The requests of one moment: a mark per outcome, with their number.
  outcomes(outcomes, x, y) {
    let row = y - (outcomes.size - 1) * 6;
    for (const [outcome, count] of outcomes) {
      this.put(outcome, x, row, this.colors[outcome] ?? this.colors.ink);
      if (count > 1) {
        this.pen.font = "600 11px system-ui, sans-serif";
        this.pen.textAlign = "left";
        this.pen.fillText(count, x + 8, row + 4);
      }
      row += 12;
    }
  }

  // A line from the arrival of a queued request to its departure.
  departure([from, to], y, hasLeft) {
    if (!this.#isNew("leaves", to, y)) return;
    this.pen.strokeStyle = this.colors.queued;
    this.pen.lineWidth = 0.4;
    stroke(this.pen, [from, y], [to, y + LEAVE_OFFSET]);
    this.#shape(hasLeft ? "admitted" : "planned", to, y + LEAVE_OFFSET, hasLeft ? this.colors.admitted : this.colors.faint);
  }

  put(kind, x, y, color) {
    if (this.#isNew(kind, x, y)) this.#shape(kind, x, y, color);
  }

  #isNew(kind, x, y) {
    const position = `${kind} ${Math.round(x)} ${Math.round(y)}`;
    const isNew = !this.#drawn.has(position);
    this.#drawn.add(position);
    return isNew;
  }

  #shape(kind, x, y, color) {
    const { pen } = this;
    const radius = 4.2 * this.size;
    pen.beginPath();
    pen.lineWidth = 1.8 * this.size;
    pen.fillStyle = pen.strokeStyle = color;
    switch (kind) {
      case "denied":
        pen.moveTo(x - radius, y - radius);
        pen.lineTo(x + radius, y + radius);
        pen.moveTo(x + radius, y - radius);
        pen.lineTo(x - radius, y + radius);
        return pen.stroke();
      case "queued":
        pen.moveTo(x, y - 1.2 * radius);
        pen.lineTo(x + 1.2 * radius, y);
        pen.lineTo(x, y + 1.2 * radius);
        pen.lineTo(x - 1.2 * radius, y);
        pen.closePath();
        return pen.stroke();
      case "planned":
        pen.arc(x, y, radius, 0, 7);
        return pen.stroke();
      case "leased":
        return pen.fillRect(x - 0.9 * radius, y - 0.9 * radius, 1.8 * radius, 1.8 * radius);
      default:
        pen.arc(x, y, radius, 0, 7);
        return pen.fill();
    }
  }
}
