// rate-limiter-flexible: RateLimiterRedis with ioredis, as its documentation configures it. A node in the protocol of ../../node.rs.
// Arguments: the limiter, the address of Redis, the limit, the window in seconds, and the number of nodes.
import { createInterface } from "node:readline";
import Redis from "ioredis";
import { RateLimiterMemory, RateLimiterRedis } from "rate-limiter-flexible";

const [limiter, url, limit, window, nodes] = process.argv.slice(2);
const [points, duration] = [Number(limit), Number(window)];
const isInsured = limiter === "rate_limiter_flexible_insured";

// A client without a command timeout waits for a paused Redis, and an insurance limiter is asked only after an error. So the insured
// client has a timeout, the one that tollgate has by default.
const redis = new Redis(url, { enableOfflineQueue: false, commandTimeout: isInsured ? 100 : undefined });
redis.on("error", () => {});
await new Promise((resolve) => redis.once("ready", resolve));

// The documentation divides the points of an insurance limiter by the number of processes.
const insuranceLimiter = isInsured ? new RateLimiterMemory({ points: points / Number(nodes), duration }) : undefined;
const rateLimiter = new RateLimiterRedis({ storeClient: redis, points, duration, insuranceLimiter });

async function decide() {
  try {
    await rateLimiter.consume("client");
    return "A";
  } catch (denialOrError) {
    return denialOrError instanceof Error ? "F" : "D";
  }
}

console.log("ready");
for await (const number of createInterface({ input: process.stdin })) {
  decide().then((answer) => process.stdout.write(`${number} ${answer}\n`));
}
process.exit();
