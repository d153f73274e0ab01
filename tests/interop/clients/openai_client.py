# Calls a chat completions API with OpenAI's client: reads the rate limit headers, streams an answer, is denied, and waits.
import sys

import openai

client = openai.OpenAI(base_url=f"{sys.argv[-1]}/v1", api_key="sk-python", max_retries=0)
messages = [{"role": "user", "content": " ".join(["word"] * 20)}]


def create(client, model, **options):
    completions = client.chat.completions.with_raw_response
    return completions.create(model=model, messages=messages, max_tokens=20, **options)


response = create(client, "headers")
for what in ("limit", "remaining"):
    for tier in ("requests", "tokens"):
        print(what, tier, response.headers[f"x-ratelimit-{what}-{tier}"])
print("usage", response.parse().usage.total_tokens)

chunks = list(create(client, "streamed", stream=True).parse())
tokens = [choice.delta.content for chunk in chunks for choice in chunk.choices if choice.delta.content]
print("streamed", len(tokens), "usage", chunks[-1].usage.total_tokens)

# On a slow machine, a window may end between two requests, so that the second is not denied.
try:
    while True:
        create(client, "denied")
except openai.RateLimitError as error:
    print("denied", error.type, error.code)

# The client itself waits and retries the denied one, once.
while True:
    response = create(client.with_options(max_retries=1), "retried")
    if response.retries_taken:
        break
print("retries", response.retries_taken, "usage", response.parse().usage.total_tokens)
