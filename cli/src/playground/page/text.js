// Writes text into an element.

// Skips unchanged text, which would trigger a layout.
export const write = (element, text) => {
  if (element.textContent !== String(text)) element.textContent = text;
};
