-- The operations: charge limits, peek at them, settle charges, reset keys. Each state is read once and written once.

for i = 1, #rules do
  local name = rules[i].algorithm
  local algorithm = algorithms[name]
  if type(algorithm) ~= 'table' then
    error('tollgate: no algorithm ' .. tostring(name))
  end
  rules[i].algorithm = algorithm
end

-- The values of the keys, by one MGET if there are several. MGET returns nil for a key of another type, as for a missing one.
local values, wrong_types
if #KEYS > 1 and #KEYS <= 1000 then
  values = call('MGET', unpack(KEYS))
end

-- Whether any of the keys with a nil value exists, so that its type is wrong.
local function has_wrong_types()
  if wrong_types == nil then
    local missing = {}
    for key = 1, #KEYS do
      if not values[key] then
        missing[#missing + 1] = KEYS[key]
      end
    end
    wrong_types = call('EXISTS', unpack(missing)) > 0
  end
  return wrong_types
end

local states = {}
local function load(key, rule)
  local algorithm = rule.algorithm
  local state, ok
  if algorithm.load then
    state = algorithm.load(rule, KEYS[key])
  else
    local value, garbage = values and values[key]
    if not value and (not values or has_wrong_types()) then
      value, garbage = read('GET', KEYS[key])
    end
    if value then
      ok, state = pcall(algorithm.parse, rule, value)
    end
    if not (ok and state) then
      state = algorithm.parse(rule)
      if value or garbage then
        state.garbage = true
      end
    end
  end
  states[key] = state
  return state
end

-- A window's key already has the right time-to-live, unless a new window has started.
local function save(key, state)
  local rule = state.changed
  local expires_at, value = rule.algorithm.serialize(rule, state)
  if expires_at <= now then
    call('DEL', KEYS[key])
  elseif not value then
    rule.algorithm.save(KEYS[key], state, lifetime(expires_at))
  elseif state.expires_at == expires_at and not named then
    call('SET', KEYS[key], value, 'KEEPTTL')
  else
    call('SET', KEYS[key], value, lifetime(expires_at))
  end
end

-- The number of arguments per charge.
local ACQUIRE, SETTLE, RENEW, RESET = 4, 7, 2, 2

-- The time, then six numbers per charge; the table is preallocated for one charge, like most calls. `written` is its length.
local reply, written = { now, nil, nil, nil, nil, nil, nil }, 1

-- Whether the last acquire was admitted: otherwise the leases after it are not charged.
local passed = false

-- Peeks all charges, and commits them only if all admit, unless it only peeks.
local function acquire(only_peeks)
  passed = false
  local args, states, reply = args, states, reply
  local first, tier, admitted = cursor + 3, written, true
  local last = cursor + 2 + ACQUIRE * args[cursor + 2]
  for charge = first, last, ACQUIRE do
    local key, rule, cost = args[charge], rules[args[charge + 1]], args[charge + 2]
    local state = states[key] or load(key, rule)
    local outcome, remaining, wait, reset_after, at, position = rule.algorithm.peek(rule, state, cost)
    if outcome ~= ADMITTED or cost == 0 then
      admitted = admitted and (outcome == ADMITTED or args[charge + 3] == 1)
      at, position = -1, -1
    end
    reply[tier + 1], reply[tier + 2], reply[tier + 3] = outcome, remaining, wait
    reply[tier + 4], reply[tier + 5], reply[tier + 6] = reset_after, at, position
    tier = tier + 6
  end
  tier = written
  for charge = first, last, ACQUIRE do
    local state, rule = states[args[charge]], rules[args[charge + 1]]
    if not admitted then
      if reply[tier + 1] == ADMITTED then
        reply[tier + 1], reply[tier + 2], reply[tier + 3], reply[tier + 4] = rule.algorithm.peek(rule, state, 0)
      end
      reply[tier + 5], reply[tier + 6] = -1, -1
    elseif only_peeks then
      reply[tier + 5], reply[tier + 6] = -1, -1
    elseif reply[tier + 5] >= 0 then
      rule.algorithm.commit(rule, state, args[charge + 2], reply[tier + 5], reply[tier + 6])
    end
    tier = tier + 6
  end
  cursor, written, passed = last, tier, admitted
end

-- The other operations, which are rare, by name.
local function rare_operations()
  -- The state of a charge, and when the entry of its holder was made. `known`: what a release says of that.
  local function report(rule, state, made_at, known)
    local outcome, remaining, wait, reset_after = rule.algorithm.peek(rule, state, 0, known)
    for i, number in ipairs({ outcome, remaining, wait, reset_after, made_at and now or -1, made_at or -1 }) do
      reply[written + i] = number
    end
    written = written + 6
  end

  -- Returns the verdicts of an acquire, and charges nothing.
  local function peek()
    local passed_before = passed
    acquire(true)
    passed = passed_before
  end

  -- Charges a lease, if the last acquire was admitted. Its refusal denies no request.
  local function lease()
    if passed then
      acquire()
      passed = true
      return
    end
    local charges = args[cursor + 2]
    for tier = written, written + 6 * charges - 6, 6 do
      reply[tier + 1], reply[tier + 2], reply[tier + 3] = LIMITED, 0, 0
      reply[tier + 4], reply[tier + 5], reply[tier + 6] = 0, -1, -1
    end
    cursor, written = cursor + 2 + ACQUIRE * charges, written + 6 * charges
  end

  -- Corrects charges to their true cost.
  local function settle()
    cursor = cursor + 1
    for _ = 1, argument() do
      local key, rule, cost = argument(), rules[argument()], argument()
      local mark, to = { at = argument(), position = argument(), unit = argument() }, argument()
      local state, algorithm = states[key] or load(key, rule), rule.algorithm
      if not algorithm.refund then
        algorithm.refund, algorithm.overcharge = algorithm.corrections()
      end
      local made_at, known
      if algorithm.releases then
        made_at, known = algorithm.refund(rule, state, mark, cost), mark.position
      elseif to < cost then
        algorithm.refund(rule, state, mark, cost - to)
      elseif to > cost then
        algorithm.overcharge(rule, state, to - cost)
      end
      report(rule, state, made_at, known)
    end
  end

  -- Extends the life of what a holder holds.
  local function renew()
    cursor = cursor + 1
    for _ = 1, argument() do
      local key, rule = argument(), rules[argument()]
      local state = states[key] or load(key, rule)
      local made_at = rule.algorithm.renew(rule, state)
      report(rule, state, made_at)
    end
  end

  -- Deletes keys, regardless of their values.
  local function reset()
    cursor = cursor + 1
    for _ = 1, argument() do
      local key, rule = argument(), rules[argument()]
      call('DEL', KEYS[key])
      values = nil
      report(rule, load(key, rule))
    end
  end

  return { peek = peek, lease = lease, settle = settle, renew = renew, reset = reset }
end

