// What ratelimit-header-parser makes of an answer, for a client whose clock stands at the given millisecond.
import { parseRateLimit } from 'ratelimit-header-parser';

const [now, url] = process.argv.slice(-2);
const response = await fetch(url);
globalThis.Date = class extends Date {
  constructor(...time) {
    super(...(time.length ? time : [Number(now)]));
  }
};
// What is not a number, and a date that is none, are null in JSON.
console.log(JSON.stringify(parseRateLimit(response)));
