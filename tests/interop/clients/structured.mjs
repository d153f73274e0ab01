// Prints the two lists of the IETF draft, read by a parser of structured fields (RFC 9651).
import { parseList } from 'structured-headers';

const { headers } = await fetch(process.argv.at(-1));
for (const name of ['ratelimit-policy', 'ratelimit']) {
  const items = parseList(headers.get(name));
  console.log(JSON.stringify(items.map(([item, parameters]) => [item, Object.fromEntries(parameters)])));
}
