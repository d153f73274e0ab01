-- What can be done to limits: charge them, correct charges, forget them. Each state is read once and written once.

for _, rule in ipairs(rules) do
  local algorithm = algorithms[rule.name]
  if type(algorithm) ~= 'table' then
    error('tollgate: no algorithm ' .. tostring(rule.name))
  end
  rule.algorithm, rule.peek, rule.commit = algorithm, algorithm.peek, algorithm.commit
end

-- What is under the keys, read together where there are several. A key of another type reads like one that is not there.
local texts
if #KEYS > 1 then
  texts = {}
  for first = 1, #KEYS, 1000 do
    local together = call('MGET', unpack(KEYS, first, min(first + 999, #KEYS)))
    for i, text in ipairs(together) do
      texts[first + i - 1] = text
    end
  end
end

local states = {}
local function load(key, rule)
  local algorithm = rule.algorithm
  local state, text, garbage
  if algorithm.load then
    state = algorithm.load(rule, KEYS[key])
  else
    text = texts and texts[key]
    if not text then
      text, garbage = read('GET', KEYS[key])
    end
    state = text and algorithm.parse(rule, text)
    if not state then
      state = algorithm.parse(rule)
      state.garbage = garbage or text
    end
  end
  states[key] = state
  return state
end

local function save(key, state)
  local rule = state.changed
  local expires_at, text = rule.algorithm.written(rule, state)
  if expires_at <= now then
    call('DEL', KEYS[key])
  elseif text then
    call('SET', KEYS[key], text, lifetime(expires_at))
  else
    rule.algorithm.save(KEYS[key], state, lifetime(expires_at))
  end
end

-- Six numbers per charge, after the time.
local reply, said = { now }, 1

-- Peeks all, and only if all admit, commits all.
local function acquire(charges)
  local from, tier, admitted = cursor, said, true
  for _ = 1, charges do
    local key, rule, cost = args[cursor + 1], rules[args[cursor + 2]], args[cursor + 3]
    local outcome, remaining, wait, reset_after, at, place = rule.peek(rule, states[key] or load(key, rule), cost)
    if outcome ~= ADMITTED or cost == 0 then
      admitted = admitted and (outcome == ADMITTED or args[cursor + 4] == 1)
      at, place = -1, -1
    end
    reply[said + 1], reply[said + 2], reply[said + 3], reply[said + 4] = outcome, remaining, wait, reset_after
    reply[said + 5], reply[said + 6] = at, place
    cursor, said = cursor + 4, said + 6
  end
  for charge = from, cursor - 4, 4 do
    local state, rule = states[args[charge + 1]], rules[args[charge + 2]]
    if not admitted then
      if reply[tier + 1] == ADMITTED then
        reply[tier + 1], reply[tier + 2], reply[tier + 3], reply[tier + 4] = rule.peek(rule, state, 0)
      end
      reply[tier + 5], reply[tier + 6] = -1, -1
    elseif reply[tier + 5] >= 0 then
      rule.commit(rule, state, args[charge + 3], reply[tier + 5], reply[tier + 6])
    end
    tier = tier + 6
  end
end

-- The other operations, and what is seldom needed of them.
local function others()
  local function report(rule, state)
    local outcome, remaining, wait, reset_after = rule.peek(rule, state, 0)
    for i, number in ipairs({ outcome, remaining, wait, reset_after, -1, -1 }) do
      reply[said + i] = number
    end
    said = said + 6
  end

  -- Corrects charges to their true cost.
  local function settle(charges)
    for _ = 1, charges do
      local key, rule, cost = argument(), rules[argument()], argument()
      local mark, to = { at = argument(), place = argument(), unit = argument() }, argument()
      local state, algorithm = states[key] or load(key, rule), rule.algorithm
      if not algorithm.refund then
        algorithm.refund, algorithm.overcharge = algorithm.corrections()
      end
      if to < cost then
        algorithm.refund(rule, state, mark, cost - to)
      elseif to > cost then
        algorithm.overcharge(rule, state, to - cost)
      end
      report(rule, state)
    end
  end

  -- Forgets keys, whatever they hold.
  local function reset(charges)
    for _ = 1, charges do
      local key, rule = argument(), rules[argument()]
      call('DEL', KEYS[key])
      texts = nil
      report(rule, load(key, rule))
    end
  end

  return settle, reset
end

