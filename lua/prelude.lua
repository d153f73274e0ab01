-- tollgate: several operations on several limits in one atomic step. lua/README.md documents KEYS, ARGV and the reply.
--
-- The parts are joined in this order: prelude, the algorithms, operations, driver. Each algorithm reads like its twin in
-- src/algorithm/, with the same names in the same order. Two things differ: a peek that admits also tells when and where
-- the charge would leave its trace (`at` and `place` of the receipt), so that a commit need not work it out again; and
-- a / b is rounded down as (a - a % b) / b and up as (a + -a % b) / b, since a call of floor takes longer than both.
--
-- Redis runs all of this from the top in every call, and to make a function, and to sweep it up afterwards, takes longer
-- than to call it. So a call makes only the algorithms that it uses, and what corrects charges only if it has to.

local call = redis.call
local format = string.format
local pack, unpacked = cmsgpack.pack, cmsgpack.unpack

-- Outcomes, as the reply spells them. What failed says why at the reply's end.
local ADMITTED, LIMITED, IMPOSSIBLE, FAILED = 0, 1, 2, 3

-- The arguments, from left to right: packed into one, as the reply then is too, or as text.
local args, cursor, packed = {}, 0, #ARGV == 1
if packed then
  args = { unpacked(ARGV[1]) }
  if args[2] == nil then
    args = args[1] -- an array: a function cannot return more than some thousand values
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

-- The time is named by the caller or, for '*', Redis's own: read once, since it can move within a call.
local named = argument()
local now = named
if named == '*' then
  local time = call('TIME')
  named, now = nil, time[1] * 1000000 + time[2]
end

-- The rules: the algorithm, for now by name, and its numbers, in the order in which it documents them.
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

-- Whole numbers from here on are not exact any more.
local INEXACT = 9007199254740992

-- What a reading command answers, or nil and whether the key holds something of another type, which is that key's
-- affair. Any other error is the operation's: a limit that cannot be read must not pass for a fresh one.
local function read(...)
  local value = redis.pcall(...)
  if type(value) ~= 'table' or not value.err then
    return value
  elseif string.find(value.err, 'WRONGTYPE', 1, true) then
    return nil, true
  end
  return call(...) -- which raises the error as it is
end

-- When Redis forgets a key. It expires by its own clock, so under a named time a key stays for an hour at least.
local function lifetime(expires_at)
  if named then
    return 'PX', format('%d', math.max(3600000, math.ceil((expires_at - now) / 1000)))
  end
  return 'PXAT', format('%d', (expires_at + -expires_at % 1000) / 1000)
end

