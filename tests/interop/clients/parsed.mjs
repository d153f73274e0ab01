// Prints what ratelimit-header-parser reads in a response, with the clock fixed at the given millisecond.
import { parseRateLimit } from 'ratelimit-header-parser';

const [now, url] = process.argv.slice(-2);
const response = await fetch(url);
globalThis.Date = class extends Date {
  constructor(...time) {
    super(...(time.length ? time : [Number(now)]));
  }
};
// NaN and an invalid date are null in JSON.
console.log(JSON.stringify(parseRateLimit(response)));
