-- tollgate: several operations on several limits in one atomic step. lua/README.md documents KEYS, ARGV and the reply.
--
-- The parts are joined in this order: prelude, the algorithms, operations, driver. Each algorithm follows its counterpart in
-- src/algorithm/, with the same names in the same order. Two things differ: a peek that admits also returns `at` and
-- `position` of the receipt, so that a commit does not compute them again; and a / b is rounded down as (a - a % b) / b and
-- up as (a - 1 - (a - 1) % b) / b + 1, since a call of floor takes longer than both. No step exceeds a, so both are exact up
-- to 2^53; the next multiple of b, a + -a % b, may not be.
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

-- The arguments: one MessagePack string, to which the reply is one too, or text.
local args, cursor, packed = {}, 0, #ARGV == 1
if packed then
  args = { unpacked(ARGV[1]) }
  if args[2] == nil then
    args = args[1] -- an array, since a function cannot return more than a few thousand values
  end
else
  for i, text in ipairs(ARGV) do
    args[i] = tonumber(text) or text
  end
end
local function argument()
  cursor = cursor + 1
  return args[cursor]
end

-- The time of the caller or, for '*', of Redis: read once, since it can change within a call.
local named = argument()
local now = named
if named == '*' then
  local time = call('TIME')
  named, now = nil, time[1] * 1000000 + time[2]
end

-- The rules: the algorithm, first by name, and its numbers, in the order that the algorithm documents.
local rules, algorithms = {}, {}
for i = 1, argument() do
  local name, first, numbers = args[cursor + 1], cursor + 2, 3
  local rule = { args[first], args[first + 1], args[first + 2], false, false, algorithm = name }
  if name == 'token_bucket' then
    rule.algorithm = 'bucket'
  elseif name == 'leaky_bucket' then
    rule.algorithm, numbers = 'bucket', 5
    rule[4], rule[5] = args[first + 3], args[first + 4]
  elseif name == 'sliding_log' then
    rule[3], numbers = false, 2
  end
  rules[i], algorithms[rule.algorithm or ''] = rule, true
  cursor = cursor + 1 + numbers
end

-- From here on, doubles do not represent all integers exactly: 2^53.
local INEXACT = 9007199254740992

-- The reply of a reading command; nil and true if the key has another type, which affects only that key. Any other error fails
-- the operation: a limit that cannot be read must not count as fresh.
local function read(...)
  local value = redis.pcall(...)
  if type(value) ~= 'table' or not value.err then
    return value
  elseif string.find(value.err, 'WRONGTYPE', 1, true) then
    return nil, true
  end
  return call(...) -- raises the error unchanged
end

-- The arguments for the expiry of a key. Redis expires keys by its own clock, so with a time of the caller the time-to-live is an
-- hour at least.
local function lifetime(expires_at)
  if named then
    return 'PX', format('%d', math.max(3600000, math.ceil((expires_at - now) / 1000)))
  end
  return 'PXAT', format('%d', (expires_at + -expires_at % 1000) / 1000)
end

