-- Sliding window counter: a count per sub-window, the oldest weighted by the share of it that is still inside the window.
-- State: newest, and the counts from there back. Rule: limit width sub_windows.

if algorithms.sliding_counter then
  -- The first of several values, and a table of the others.
  local function split(first, ...)
    return first, { ... }
  end

  local function parse(rule, value)
    if not value then
      return { newest = 0, counts = {}, changed = false, expires_at = 0 }
    end
    local first, counts = split(unpacked(value))
    local newest = -1 - first
    local exact, whole = newest * rule[2] < INEXACT and newest >= 0, newest % 1
    for i = 1, #counts do
      local count = counts[i]
      exact, whole = exact and count < INEXACT and count >= 0, whole + count % 1
    end
    if exact and whole == 0 and #counts <= rule[3] + 1 and counts[1] > 0 then
      return { newest = newest, counts = counts, changed = false, expires_at = (newest + rule[3] + 1) * rule[2] }
    end
  end

  -- The count `back` sub-windows before the one that is `age` after the newest.
  local function count(state, age, back)
    return state.counts[back - age + 1] or 0
  end

  -- Drops the zeros at both ends. If nothing is left, the state becomes fresh.
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

  -- The time as the index of its sub-window, the number of sub-windows since the state's newest, and the time elapsed in it.
  local function position_at(rule, state)
    local now, newest, width = now, state.newest, rule[2]
    if now < newest * width then
      now = newest * width
    end
    local elapsed = now % width
    local index = (now - elapsed) / width
    return index, index - newest, elapsed
  end

  -- The sum of the sub-windows that are entirely inside the window.
  local function full(rule, state, age)
    local counts, sum = state.counts, 0
    for i = 1, rule[3] - age do
      sum = sum + (counts[i] or 0)
    end
    return sum
  end

  -- The count of the oldest sub-window, weighted by the share that is still inside the window.
  local function weighted(rule, oldest, elapsed)
    return math.floor(oldest * (rule[2] - elapsed) / rule[2])
  end

  local function used(rule, state, age, elapsed)
    return full(rule, state, age) + weighted(rule, count(state, age, rule[3]), elapsed)
  end

  -- The earliest elapsed time from `start` at which the weighted count is at most `max`; the width if there is none.
  local function shrinks_to(rule, max, oldest, start)
    if oldest <= max then
      return start
    end
    local guess = math.floor(rule[2] - (max + 1) * rule[2] / oldest)
    local elapsed = math.max(guess, start)
    while elapsed < rule[2] and weighted(rule, oldest, elapsed) > max do
      elapsed = elapsed + 1
    end
    return elapsed
  end

  -- How long until at most `allowance` is used, without other charges than `pending` now.
  local function retry_after(rule, state, position_age, position_elapsed, pending, allowance)
    local ahead, sub_windows = 0, rule[3]
    while true do
      local age = position_age + ahead
      local max = allowance - full(rule, state, age) - (ahead < sub_windows and pending or 0)
      if max >= 0 then
        local oldest = count(state, age, sub_windows) + (ahead == sub_windows and pending or 0)
        local start = ahead == 0 and position_elapsed or 0
        local elapsed = shrinks_to(rule, max, oldest, start)
        if elapsed < rule[2] then
          return ahead * rule[2] + elapsed - position_elapsed
        end
      end
      ahead = ahead + 1
    end
  end

  local function peek(rule, state, cost)
    local limit = rule[1]
    local index, age, elapsed = position_at(rule, state)
    local used = used(rule, state, age, elapsed)
    local ends = rule[3] + 1
    if cost > 0 and cost <= limit and used <= limit - cost then
      local remaining = limit - cost - used
      if remaining == 0 then
        remaining = EXHAUSTED + retry_after(rule, state, age, elapsed, cost, limit - 1)
      end
      return ADMITTED, remaining, 0, ends * rule[2] - elapsed, index * rule[2] + elapsed, index
    end
    local reset_after = 0
    if #state.counts > 0 and age < ends then
      reset_after = (ends - age) * rule[2] - elapsed
    end
    local outcome, remaining, wait = ADMITTED, math.max(0, limit - used), 0
    if cost > 0 and cost <= limit then
      outcome, wait = LIMITED, retry_after(rule, state, age, elapsed, 0, limit - cost)
    elseif remaining == 0 then
      remaining = EXHAUSTED + retry_after(rule, state, age, elapsed, 0, limit - 1)
    end
    if cost > limit then
      outcome = IMPOSSIBLE
    end
    return outcome, remaining, wait, reset_after
  end

  -- Adds `units` to the sub-window of this index, which is `age` after the newest.
  local function add(rule, state, index, age, units)
    local counts = state.counts
    if age > 0 or #counts == 0 then
      counts = {}
      for back = 0, rule[3] do
        counts[back + 1] = count(state, age, back)
      end
      state.newest, state.counts = index, counts
    end
    counts[1] = counts[1] + units
    trim(rule, state)
  end

  local function commit(rule, state, cost, _, position)
    add(rule, state, position, position - state.newest, cost)
  end

  local function serialize(rule, state)
    local counts = state.counts
    local expires_at = (state.newest + rule[3] + 1) * rule[2]
    if #counts == 0 then
      return 0
    end
    return expires_at, pack(-1 - state.newest, unpack(counts))
  end

  local function corrections()
    local function refund(rule, state, mark, cost)
      local tracked = position_at(rule, state) <= mark.position + rule[3]
      local position = state.newest - mark.position + 1
      local count = state.counts[position]
      if tracked and count and count > 0 then
        state.counts[position] = math.max(0, count - cost)
        trim(rule, state)
      end
    end

    local function overcharge(rule, state, surplus)
      local index, age, elapsed = position_at(rule, state)
      surplus = math.min(surplus, math.max(0, 2 * rule[1] - used(rule, state, age, elapsed)))
      if surplus > 0 then
        add(rule, state, index, age, surplus)
      end
    end

    return refund, overcharge
  end

  algorithms.sliding_counter = {
    parse = parse, peek = peek, commit = commit, serialize = serialize, corrections = corrections,
  }
end

