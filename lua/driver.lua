-- Does the operations one after another, writes what they have changed, and replies.

local rare
local function operation(name)
  if name == 'acquire' then
    return acquire
  end
  rare = rare or others()
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
  -- Among others, an operation that fails fails alone: its charges say so, and where its words are at the reply's end.
  local WIDTH, start, failures = { acquire = ACQUIRE, settle = SETTLE, reset = RESET }, cursor, {}
  local function fail(tiers, charges, why)
    failures[#failures + 1] = type(why) == 'table' and why.err or tostring(why)
    for tier = tiers, tiers + 6 * (charges - 1), 6 do
      reply[tier + 1], reply[tier + 2], reply[tier + 3], reply[tier + 4] = FAILED, #failures, 0, 0
      reply[tier + 5], reply[tier + 6] = -1, -1
    end
  end

  for _ = 1, count do
    local first, tiers, name = cursor, said, args[cursor + 1]
    local done, why = pcall(operation(name))
    if not done then
      local charges = args[first + 2]
      fail(tiers, charges, why)
      cursor, said = first + 2 + WIDTH[name] * charges, tiers + 6 * charges
    end
  end

  local unwritten
  for key = 1, #KEYS do
    local state = states[key]
    if state and state.changed then
      local done, why = pcall(save, key, state)
      if not done then
        unwritten = unwritten or {}
        unwritten[key] = why
      end
    end
  end

  -- What was charged to a key that could not be written has not been charged.
  if unwritten then
    cursor = start
    local tiers = 1
    for _ = 1, count do
      local name, charges = argument(), argument()
      local why
      for i = 0, charges - 1 do
        local charged = name == 'settle' or reply[tiers + 6 * i + 5] ~= -1
        why = why or charged and unwritten[args[cursor + WIDTH[name] * i + 1]]
      end
      if why and reply[tiers + 1] ~= FAILED then
        fail(tiers, charges, why)
      end
      cursor, tiers = cursor + WIDTH[name] * charges, tiers + 6 * charges
    end
  end
  for i, failure in ipairs(failures) do
    reply[said + i] = failure
  end
end

for key = 1, #KEYS do
  if states[key] and states[key].garbage then
    reply[#reply + 1] = key
  end
end
return packed and pack(reply) or reply
