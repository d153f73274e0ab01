-- tollgate: several operations on several limits in one atomic step. lua/README.md documents KEYS, ARGV and the reply.
--
-- The parts are joined in this order: prelude, the algorithms, driver. Each algorithm reads like its twin in
-- src/algorithm/, with the same names in the same order. An algorithm is a function that builds its table the first
-- time a call needs it, so that a call pays for no other.

local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
local format, find, match = string.format, string.find, string.match
local call, pcall = redis.call, redis.pcall

-- Outcomes, as the reply spells them.
local ADMITTED, LIMITED, IMPOSSIBLE = 0, 1, 2

-- ARGV, from left to right.
local cursor = 0
local function word()
  cursor = cursor + 1
  return ARGV[cursor]
end
local function number()
  return tonumber(word())
end

-- The time is named by the caller or, for '*', Redis's own: read once, since it can move within a call.
local named = number()
local now = named
if not named then
  local time = call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- When Redis forgets a key. It expires by its own clock, so under a named time a key stays for an hour at least.
local function lifetime(expires_at)
  if named then
    return 'PX', format('%.0f', max(3600000, ceil((expires_at - now) / 1000)))
  end
  return 'PXAT', format('%.0f', ceil(expires_at / 1000))
end

-- A whole number that a double holds exactly, or nil: tonumber alone takes 'nan', '-1', '1e9' and '0x10'.
local function whole(text)
  if text and #text <= 16 and find(text, '^%d+$') then
    local n = tonumber(text)
    return n < 9007199254740992 and n or nil
  end
end

-- What a reading command answers, or nil and whether the key holds something of another type, which is that key's
-- affair. Any other error is everybody's: a limit that cannot be read must not pass for a fresh one.
local function read(...)
  local value = pcall(...)
  if type(value) ~= 'table' or not value.err then
    return value
  elseif find(value.err, 'WRONGTYPE', 1, true) then
    return nil, true
  end
  return call(...) -- which raises the error as it is
end

-- The state under a key, made by `parse` from a string of ours: nil when there is none, and whether it is garbage.
local function load_string(key, parse)
  local text, garbage = read('GET', key)
  if not text then
    return nil, garbage
  end
  local state = parse(text)
  return state, not state
end

local function save_string(key, text, expires_at)
  call('SET', key, text, lifetime(expires_at))
end

local function verdict(outcome, remaining, wait, reset_after)
  return { outcome, remaining, wait, reset_after }
end

-- What is left of `limit` after `used`.
local function remaining(limit, used)
  return max(0, limit - used)
end

-- How much of `surplus` may be added to `used`, which never grows beyond twice the limit.
local function bounded_surplus(limit, used, surplus)
  return min(surplus, max(0, 2 * limit - used))
end

local algorithms = {}
