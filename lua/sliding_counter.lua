-- Sliding window counter: a count per sub-window, the oldest weighed by how much of it is still inside.
-- State: newest, and the counts from there back. Rule: limit width buckets.

function algorithms.sliding_counter()
  local function rule()
    return { limit = number(), width = number(), buckets = number() }
  end

  local function load(rule, key)
    local state, garbage = load_string(key, function(text)
      local counts = {}
      local newest = whole(match(text, '^(%d+) %d'))
      if not newest or not find(text, '^[%d ]+%d$') or find(text, '  ', 1, true) then
        return nil
      end
      for digits in string.gmatch(text, ' (%d+)') do
        local count = whole(digits)
        if not count then
          return nil
        end
        counts[#counts + 1] = count
      end
      if #counts <= rule.buckets + 1 and counts[1] > 0 then
        return { newest = newest, counts = counts }
      end
    end)
    return state or { newest = 0, counts = {} }, garbage
  end

  -- The count `back` sub-windows before the one that is `age` after the newest.
  local function count(state, age, back)
    return state.counts[back - age + 1] or 0
  end

  -- Drops the zeros at both ends, and with them the state when nothing is left.
  local function trim(rule, state)
    local counts = state.counts
    while counts[#counts] == 0 do
      counts[#counts] = nil
    end
    while counts[1] == 0 do
      table.remove(counts, 1)
      state.newest = state.newest - 1
    end
    if #counts == 0 then
      state.newest = 0
    end
    state.changed = rule
  end

  -- Where now falls in a state: which sub-window, how many after its newest, and how far into it.
  local function moment(rule, state)
    local now = max(now, state.newest * rule.width)
    local index = floor(now / rule.width)
    return { index = index, age = index - state.newest, elapsed = now % rule.width }
  end

  -- The sum of the sub-windows that are wholly inside.
  local function full(rule, state, age)
    local sum = 0
    for back = 0, rule.buckets - 1 do
      sum = sum + count(state, age, back)
    end
    return sum
  end

  -- What is still inside of the sub-window that is leaving.
  local function weighted(rule, leaving, elapsed)
    return floor(leaving * (rule.width - elapsed) / rule.width)
  end

  local function used(rule, state, moment)
    local leaving = count(state, moment.age, rule.buckets)
    return full(rule, state, moment.age) + weighted(rule, leaving, moment.elapsed)
  end

  -- How far into a sub-window, from `start` on, the leaving one weighs no more than `room`; its width when never.
  local function shrinks_to(rule, room, leaving, start)
    if leaving <= room then
      return start
    end
    local guess = floor(rule.width - (room + 1) * rule.width / leaving)
    local elapsed = max(guess, start)
    while elapsed < rule.width and weighted(rule, leaving, elapsed) > room do
      elapsed = elapsed + 1
    end
    return elapsed
  end

  -- How long until no more than `allowance` is used, if nobody comes in between.
  local function retry_after(rule, state, moment, allowance)
    local ahead = 0
    while true do
      local age = moment.age + ahead
      local room = allowance - full(rule, state, age)
      if room >= 0 then
        local leaving = count(state, age, rule.buckets)
        local start = ahead == 0 and moment.elapsed or 0
        local elapsed = shrinks_to(rule, room, leaving, start)
        if elapsed < rule.width then
          return ahead * rule.width + elapsed - moment.elapsed
        end
      end
      ahead = ahead + 1
    end
  end

  local function peek(rule, state, cost)
    local limit = rule.limit
    local moment = moment(rule, state)
    local used = used(rule, state, moment)
    local ends = rule.buckets + 1
    if cost > 0 and cost <= limit and used <= limit - cost then
      return verdict(ADMITTED, limit - cost - used, 0, ends * rule.width - moment.elapsed)
    end
    local reset_after = 0
    if #state.counts > 0 and moment.age < ends then
      reset_after = (ends - moment.age) * rule.width - moment.elapsed
    end
    local outcome, wait = ADMITTED, 0
    if cost > limit then
      outcome = IMPOSSIBLE
    elseif cost > 0 then
      outcome, wait = LIMITED, retry_after(rule, state, moment, limit - cost)
    end
    return verdict(outcome, remaining(limit, used), wait, reset_after)
  end

  -- Counts `units` in the sub-window of this moment.
  local function add(rule, state, moment, units)
    local counts = {}
    for back = 0, rule.buckets do
      counts[back + 1] = count(state, moment.age, back)
    end
    counts[1] = counts[1] + units
    state.newest, state.counts = moment.index, counts
    trim(rule, state)
  end

  local function commit(rule, state, cost)
    local moment = moment(rule, state)
    add(rule, state, moment, cost)
    return moment.index * rule.width + moment.elapsed, moment.index
  end

  local function refund(rule, state, mark, cost)
    local tracked = moment(rule, state).index <= mark.place + rule.buckets
    local position = state.newest - mark.place + 1
    local count = state.counts[position]
    if tracked and count and count > 0 then
      state.counts[position] = max(0, count - cost)
      trim(rule, state)
    end
  end

  local function overcharge(rule, state, surplus)
    local moment = moment(rule, state)
    surplus = bounded_surplus(rule.limit, used(rule, state, moment), surplus)
    if surplus > 0 then
      add(rule, state, moment, surplus)
    end
  end

  local function expires_at(rule, state)
    return #state.counts == 0 and 0 or (state.newest + rule.buckets + 1) * rule.width
  end

  local function save(key, state, expires_at)
    local text = { format('%.0f', state.newest) }
    for i, count in ipairs(state.counts) do
      text[i + 1] = format('%.0f', count)
    end
    save_string(key, table.concat(text, ' '), expires_at)
  end

  return {
    rule = rule, load = load, peek = peek, commit = commit, refund = refund, overcharge = overcharge,
    expires_at = expires_at, save = save,
  }
end
