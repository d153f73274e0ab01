-- tollgate: several operations on several limits in one atomic step. lua/README.md documents KEYS, ARGV and the reply.
--
-- The parts are joined in this order: prelude, the algorithms, operations, driver. Each algorithm reads like its twin in
-- src/algorithm/, with the same names in the same order. One thing differs: a peek that admits also tells when and where
-- the charge would leave its trace (`at` and `place` of the receipt), so that a commit need not work it out again.
--
-- Redis runs all of this from the top in every call, and to make a function, and to sweep it up afterwards, takes longer
-- than to call it. So a call makes only the algorithms that it uses, and what corrects charges only if it has to.

local call = redis.call
local unpack = unpack or table.unpack
local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
local format, find, match = string.format, string.find, string.match

-- Outcomes, as the reply spells them. What failed says why at the reply's end.
local ADMITTED, LIMITED, IMPOSSIBLE, FAILED = 0, 1, 2, 3

-- The arguments, from left to right: packed into one, as the reply then is too, or as text.
local args, cursor, packed = {}, 0, #ARGV == 1
if packed then
  args = cmsgpack.unpack(ARGV[1])
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

-- The rules: a name, and the numbers that its algorithm takes, in the order in which that one documents them.
local rules, algorithms = {}, {}
for i = 1, argument() do
  local name = argument()
  local rule = { argument(), argument(), false, false, false, name = name, algorithm = false, peek = false, commit = false }
  if name ~= 'sliding_log' then
    rule[3] = argument()
  end
  if name == 'leaky_bucket' then
    rule[4], rule[5] = argument(), argument()
  end
  rules[i], algorithms[name or ''] = rule, true
end

-- The number that these digits are, if a double holds it exactly.
local function whole(digits)
  local n = digits and #digits <= 16 and tonumber(digits)
  return n and n < 9007199254740992 and n or nil
end

-- What a reading command answers, or nil and whether the key holds something of another type, which is that key's
-- affair. Any other error is the operation's: a limit that cannot be read must not pass for a fresh one.
local function read(...)
  local value = redis.pcall(...)
  if type(value) ~= 'table' or not value.err then
    return value
  elseif find(value.err, 'WRONGTYPE', 1, true) then
    return nil, true
  end
  return call(...) -- which raises the error as it is
end

-- When Redis forgets a key. It expires by its own clock, so under a named time a key stays for an hour at least.
local function lifetime(expires_at)
  if named then
    return 'PX', format('%d', max(3600000, ceil((expires_at - now) / 1000)))
  end
  return 'PXAT', format('%d', ceil(expires_at / 1000))
end

