// Calls a chat completions API with OpenAI's client: reads the rate limit headers, streams an answer, is denied, and waits.
import OpenAI from 'openai';

// Counts the requests that are sent, retries included.
let sent = 0;
const countingFetch = (...request) => {
  sent += 1;
  return fetch(...request);
};
const baseURL = `${process.argv.at(-1)}/v1`;
const client = new OpenAI({ baseURL, apiKey: 'sk-node', maxRetries: 0, fetch: countingFetch });
const messages = [{ role: 'user', content: Array(20).fill('word').join(' ') }];

const create = (model, body, options) =>
  client.chat.completions.create({ model, messages, max_tokens: 20, ...body }, options);

const { data, response } = await create('headers').withResponse();
for (const what of ['limit', 'remaining']) {
  for (const tier of ['requests', 'tokens']) {
    console.log(what, tier, response.headers.get(`x-ratelimit-${what}-${tier}`));
  }
}
console.log('usage', data.usage.total_tokens);

const chunks = [];
for await (const chunk of await create('streamed', { stream: true })) {
  chunks.push(chunk);
}
const tokens = chunks.flatMap((chunk) => chunk.choices).filter((choice) => choice.delta.content);
console.log('streamed', tokens.length, 'usage', chunks.at(-1).usage.total_tokens);

// On a slow machine, a window may end between two requests, so that the second is not denied.
try {
  for (;;) {
    await create('denied');
  }
} catch (error) {
  if (!(error instanceof OpenAI.RateLimitError)) {
    throw error;
  }
  console.log('denied', error.type, error.code);
}

// The client itself waits and retries the denied one, once.
for (;;) {
  sent = 0;
  const completion = await create('retried', {}, { maxRetries: 1 });
  if (sent > 1) {
    console.log('retries', sent - 1, 'usage', completion.usage.total_tokens);
    break;
  }
}
