-- Reads the rules, does the operations one after another, writes each state once, and replies.

local built = {}
local function algorithm(name)
  if not built[name] then
    if not algorithms[name] then
      error('tollgate: no algorithm ' .. tostring(name))
    end
    built[name] = algorithms[name]()
  end
  return built[name]
end

local rules = {}
for i = 1, number() do
  local algorithm = algorithm(word())
  rules[i] = algorithm.rule()
  rules[i].algorithm = algorithm
end

local states = {}
local function state_of(key, rule)
  local state = states[key]
  if not state then
    local garbage
    state, garbage = rule.algorithm.load(rule, KEYS[key])
    state.garbage = state.garbage or garbage
    states[key] = state
  end
  return state
end

local reply = { now }
local function report(verdict, at, place)
  local n = #reply
  reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4] = verdict[1], verdict[2], verdict[3], verdict[4]
  reply[n + 5], reply[n + 6] = at or -1, place or -1
end

local operations = {}

-- Peeks all, and only if all admit, commits all.
function operations.acquire(charges)
  local tiers, admitted = {}, true
  for i = 1, charges do
    local key, rule = number(), rules[number()]
    local cost, shadow = number(), number() == 1
    local state = state_of(key, rule)
    local verdict = rule.algorithm.peek(rule, state, cost)
    admitted = admitted and (shadow or verdict[1] == ADMITTED)
    tiers[i] = { rule = rule, state = state, cost = cost, verdict = verdict }
  end
  for i = 1, charges do
    local tier, at, place = tiers[i], nil, nil
    local rule, state, verdict = tier.rule, tier.state, tier.verdict
    if verdict[1] == ADMITTED then
      if not admitted then
        verdict = rule.algorithm.peek(rule, state, 0)
      elseif tier.cost > 0 then
        at, place = rule.algorithm.commit(rule, state, tier.cost)
      end
    end
    report(verdict, at, place)
  end
end

-- Corrects charges to their true cost.
function operations.settle(charges)
  for _ = 1, charges do
    local key, rule = number(), rules[number()]
    local cost, mark, to = number(), { at = number(), place = number(), unit = number() }, number()
    local state = state_of(key, rule)
    if to < cost then
      rule.algorithm.refund(rule, state, mark, cost - to)
    elseif to > cost then
      rule.algorithm.overcharge(rule, state, to - cost)
    end
    report(rule.algorithm.peek(rule, state, 0))
  end
end

-- Forgets keys, whatever they hold.
function operations.reset(charges)
  for _ = 1, charges do
    local key, rule = number(), rules[number()]
    call('DEL', KEYS[key])
    states[key] = nil
    report(rule.algorithm.peek(rule, state_of(key, rule), 0))
  end
end

for _ = 1, number() do
  local name = word()
  if not operations[name] then
    error('tollgate: no operation ' .. tostring(name))
  end
  operations[name](number())
end

for key, state in pairs(states) do
  local rule = state.changed
  if rule then
    local expires_at = rule.algorithm.expires_at(rule, state)
    if expires_at <= now then
      call('DEL', KEYS[key])
    else
      rule.algorithm.save(KEYS[key], state, expires_at)
    end
  end
  if state.garbage then
    reply[#reply + 1] = key
  end
end

return reply
