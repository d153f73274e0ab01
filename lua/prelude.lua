-- tollgate: several operations on several limits in one atomic step. lua/README.md documents KEYS, ARGV and the reply.
--
-- The parts are joined in this order: prelude, fast_path, rules, the algorithms, operations, driver. Most calls end with fast_path,
-- which decides about them without functions; the parts after it are for all calls. Each algorithm does the arithmetic of its
-- counterpart in src/algorithm/, and a function that both have has the same name. Two things differ: a peek that admits also
-- returns `at` and `position` of the receipt, so that a commit does not compute them again; and a / b is rounded down as
-- (a - a % b) / b and up as (a - 1 - (a - 1) % b) / b + 1, since a call of floor takes longer than both. No step exceeds a, so
-- both are exact up to 2^53; the next multiple of b, a + -a % b, may not be.
--
-- Redis runs all of this from the top in every call, and creating a function and collecting it afterwards takes longer than
-- calling it. So a call creates only the algorithms that it uses, and the functions that correct charges only on demand.

local call = redis.call
local format = string.format
local pack, unpacked = cmsgpack.pack, cmsgpack.unpack

-- The outcomes in the reply. The error messages of failed operations are at its end.
local ADMITTED, LIMITED, IMPOSSIBLE, FAILED = 0, 1, 2, 3

-- If nothing remains, a peek returns this plus the time until something does in place of `remaining`, unless the request has to wait
-- anyway: 2^33, more than any quota.
local EXHAUSTED = 8589934592

-- From here on, doubles do not represent all integers exactly: 2^53.
local INEXACT = 9007199254740992

-- The bound of a full bucket, in units: 2^52.
local MAX_BACKLOG = 4503599627370496

-- The value of a concurrency limit has its numbers in an array if there are more holders: a function cannot return more than a few
-- thousand values.
local MAX_UNPACKED_HOLDERS = 100

-- The arguments: one MessagePack string, to which the reply is one too, or text.
local args, packed = nil, #ARGV == 1
if packed then
  args = { unpacked(ARGV[1]) }
  if args[2] == nil then
    args = args[1] -- an array, since a function cannot return more than a few thousand values
  end
else
  args = {}
  for i, text in ipairs(ARGV) do
    args[i] = tonumber(text) or text
  end
end

-- The time of the caller or, for '*', of Redis: read once, since it can change within a call.
local named = args[1]
local now = named
if named == '*' then
  local time = call('TIME')
  named, now = nil, time[1] * 1000000 + time[2]
end

