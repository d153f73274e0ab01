// Sends two requests, and retries a denied one at the reset time that ratelimit-header-parser returns.
import { setTimeout } from 'node:timers/promises';
import { parseRateLimit } from 'ratelimit-header-parser';

const url = process.argv.at(-1);
for (let sent = 0; sent < 2; sent += 1) {
  let response = await fetch(url);
  if (response.status === 429) {
    const { reset } = parseRateLimit(response);
    // A timer may be early by less than a millisecond.
    for (let left; (left = reset - Date.now()) > 0; ) await setTimeout(left);
    response = await fetch(url);
  }
  console.log(response.status);
}
