// Formats a time in seconds.

export const seconds = (micros, digits = 2) => `${(micros / 1e6).toFixed(digits)} s`;
