-- Reads the rules, does the operations one after another, writes each state once, and replies.

local built = {}
for i = 1, argument() do
  local name = argument()
  local algorithm = built[name]
  if not algorithm then
    if not algorithms[name] then
      error('tollgate: no algorithm ' .. tostring(name))
    end
    algorithm = algorithms[name]()
    built[name] = algorithm
  end
  local rule = algorithm.rule()
  rule.algorithm, rule.peek, rule.commit = algorithm, algorithm.peek, algorithm.commit
  rules[i] = rule
end

local count = argument()
local first = cursor

-- An operation that fails among others fails alone: its charges say so, and where its words are at the reply's end.
local failures = {}
local function fail(tiers, charges, why)
  failures[#failures + 1] = type(why) == 'table' and why.err or tostring(why)
  for tier = tiers, tiers + 6 * (charges - 1), 6 do
    reply[tier + 1], reply[tier + 2], reply[tier + 3], reply[tier + 4] = FAILED, #failures, 0, 0
    reply[tier + 5], reply[tier + 6] = -1, -1
  end
end

local WIDTH = { acquire = 4, settle = 7, reset = 2 }
for _ = 1, count do
  local name, charges = argument(), argument()
  local run, from, tiers = operation(name), cursor, said
  if count == 1 then
    run(charges)
  else
    local done, why = pcall(run, charges)
    if not done then
      fail(tiers, charges, why)
      cursor, said = from + WIDTH[name] * charges, tiers + 6 * charges
    end
  end
end

local unwritten
for key, state in pairs(states) do
  if state.changed then
    if count == 1 then
      save(key, state)
    else
      local done, why = pcall(save, key, state)
      if not done then
        unwritten = unwritten or {}
        unwritten[key] = why
      end
    end
  end
  if state.garbage then
    reply[#reply + 1] = key
  end
end

-- What was charged to a key that could not be written has not been charged.
if unwritten then
  cursor = first
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

for _, failure in ipairs(failures) do
  reply[#reply + 1] = failure
end
return packed and cmsgpack.pack(reply) or reply
