-- Runs the operations in order, writes the changed states, and returns the reply.

local rare
local function operation(name)
  if name == 'acquire' then
    return acquire
  end
  rare = rare or rare_operations()
  return rare[name] or error('tollgate: no operation ' .. tostring(name))
end

local count = argument()
if count == 1 then
  operation(args[cursor + 1])()
  for key = 1, #KEYS do
    local state = states[key]
    if state and state.changed then
      save(key, state)
    end
  end
else
  -- A failing operation does not affect the others: its charges have the outcome FAILED and the index of an error message, which
  -- follows the charges in the reply.
  local WIDTH, start, failures = {
    acquire = ACQUIRE, peek = ACQUIRE, lease = ACQUIRE, settle = SETTLE, renew = RENEW, reset = RESET,
  }, cursor, {}
  local function fail(tiers, charges, err)
    failures[#failures + 1] = type(err) == 'table' and err.err or tostring(err)
    for tier = tiers, tiers + 6 * (charges - 1), 6 do
      reply[tier + 1], reply[tier + 2], reply[tier + 3], reply[tier + 4] = FAILED, #failures, 0, 0
      reply[tier + 5], reply[tier + 6] = -1, -1
    end
  end

  for _ = 1, count do
    local first, tiers, name = cursor, written, args[cursor + 1]
    local ok, err = pcall(operation(name))
    if not ok then
      local charges = args[first + 2]
      fail(tiers, charges, err)
      cursor, written = first + 2 + WIDTH[name] * charges, tiers + 6 * charges
    end
  end

  local unwritten
  for key = 1, #KEYS do
    local state = states[key]
    if state and state.changed then
      local ok, err = pcall(save, key, state)
      if not ok then
        unwritten = unwritten or {}
        unwritten[key] = err
      end
    end
  end

  -- An operation that charged a key which could not be written has failed.
  if unwritten then
    cursor = start
    local tiers = 1
    for _ = 1, count do
      local name, charges = argument(), argument()
      local err
      for i = 0, charges - 1 do
        local charged = name == 'settle' or reply[tiers + 6 * i + 5] ~= -1
        err = err or charged and unwritten[args[cursor + WIDTH[name] * i + 1]]
      end
      if err and reply[tiers + 1] ~= FAILED then
        fail(tiers, charges, err)
      end
      cursor, tiers = cursor + WIDTH[name] * charges, tiers + 6 * charges
    end
  end
  for i, failure in ipairs(failures) do
    reply[written + i] = failure
  end
end

for key = 1, #KEYS do
  if states[key] and states[key].garbage then
    reply[#reply + 1] = key
  end
end
return packed and pack(reply) or reply
