-- Fixed window: one count, which starts over with every window. State: start, count.
-- Rule: limit window anchored (1 or 0).

function algorithms.fixed_window()
  local floor, max = math.floor, math.max

  local function rule()
    return { limit = argument(), window = argument(), anchored = argument() == 1 }
  end

  local function fresh()
    return { start = 0, count = 0, changed = false }
  end

  local function parse(_, text)
    local start, count = string.match(text, '^(%d+) (%d+)$')
    start, count = whole(start), whole(count)
    if start and count and count > 0 then
      return { start = start, count = count, changed = false }
    end
  end

  -- The window in force, and the time by its own reckoning.
  local function in_force(rule, state)
    if state.count > 0 and now < state.start + rule.window then
      return state.start, state.count, max(now, state.start)
    end
    local start = rule.anchored and now or floor(now / rule.window) * rule.window
    return start, 0, now
  end

  local function peek(rule, state, cost)
    local limit = rule.limit
    local start, count, now = in_force(rule, state)
    local left = start + rule.window - now
    local outcome, wait = ADMITTED, 0
    if cost > limit then
      outcome = IMPOSSIBLE
    elseif cost > 0 and count + cost > limit then
      outcome, wait = LIMITED, left
    else
      count = count + cost
    end
    return outcome, max(0, limit - count), wait, count == 0 and 0 or left, now, start
  end

  local function set(rule, state, start, count)
    state.start, state.count, state.changed = start, count, rule
  end

  local function commit(rule, state, cost, _, place)
    set(rule, state, place, state.start == place and state.count + cost or cost)
  end

  local function expires_at(rule, state)
    return state.count == 0 and 0 or state.start + rule.window
  end

  local function text(state)
    return string.format('%d %d', state.start, state.count)
  end

  local function corrections()
    local function refund(rule, state, mark, cost)
      local start, count = in_force(rule, state)
      if count > 0 and start == mark.place then
        set(rule, state, start, max(0, count - cost))
      end
    end

    local function overcharge(rule, state, surplus)
      local start, count = in_force(rule, state)
      surplus = bounded_surplus(rule.limit, count, surplus)
      if surplus > 0 then
        set(rule, state, start, count + surplus)
      end
    end

    return refund, overcharge
  end

  return {
    rule = rule, fresh = fresh, parse = parse, peek = peek, commit = commit, expires_at = expires_at, text = text,
    corrections = corrections,
  }
end
