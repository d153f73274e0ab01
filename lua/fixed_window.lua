-- Fixed window: one count, which is reset with every window. State: start, count.
-- Rule: limit window anchored (1 or 0).

if algorithms.fixed_window then
  local function parse(rule, value)
    if not value then
      return { start = 0, count = 0, changed = false, expires_at = 0 }
    end
    local first, count, more = unpacked(value)
    local start = -1 - first
    local exact = start < INEXACT and count < INEXACT
    local whole = start % 1 + count % 1 == 0
    if exact and whole and start >= 0 and count > 0 and not more then
      return { start = start, count = count, changed = false, expires_at = start + rule[2] }
    end
  end

  -- The start and count of the window at `now`, and the effective time: not before the start.
  local function current_window(rule, state)
    local window = rule[2]
    if state.count > 0 and now < state.start + window then
      return state.start, state.count, now > state.start and now or state.start
    end
    local start = rule[3] == 1 and now or now - now % window
    return start, 0, now
  end

  local function peek(rule, state, cost)
    local limit = rule[1]
    local start, count, now = current_window(rule, state)
    local left = start + rule[2] - now
    local outcome, wait = ADMITTED, 0
    if cost > limit then
      outcome = IMPOSSIBLE
    elseif cost > 0 and count + cost > limit then
      outcome, wait = LIMITED, left
    else
      count = count + cost
    end
    local remaining = 0
    if count < limit then
      remaining = limit - count
    elseif outcome ~= LIMITED then
      remaining = EXHAUSTED + left
    end
    return outcome, remaining, wait, count == 0 and 0 or left, now, start
  end

  local function set(rule, state, start, count)
    state.start, state.count, state.changed = start, count, rule
  end

  local function commit(rule, state, cost, _, position)
    set(rule, state, position, state.start == position and state.count + cost or cost)
  end

  local function serialize(rule, state)
    local expires_at = state.count == 0 and 0 or state.start + rule[2]
    return expires_at, pack(-1 - state.start, state.count)
  end

  local function corrections()
    local function refund(rule, state, mark, cost)
      local start, count = current_window(rule, state)
      if count > 0 and start == mark.position then
        set(rule, state, start, math.max(0, count - cost))
      end
    end

    local function overcharge(rule, state, surplus)
      local start, count = current_window(rule, state)
      surplus = math.min(surplus, math.max(0, 2 * rule[1] - count))
      if surplus > 0 then
        set(rule, state, start, count + surplus)
      end
    end

    return refund, overcharge
  end

  algorithms.fixed_window = {
    parse = parse, peek = peek, commit = commit, serialize = serialize, corrections = corrections,
  }
end

