-- The arithmetic that both buckets share: a backlog that drains at a steady rate. State: backlog, unit, last.
-- Rule: capacity unit drain, and for a leaky bucket queue (1 or 0) and max_wait (-1 for none).

if algorithms.bucket then
  local function parse(_, value)
    if not value then
      return { backlog = 0, unit = 0, last = 0, changed = false }
    end
    local first, unit, last, more = unpacked(value)
    local backlog = -1 - first
    local exact = backlog < INEXACT and unit < INEXACT and last < INEXACT
    local whole = backlog % 1 + unit % 1 + last % 1 == 0
    if exact and whole and backlog > 0 and unit > 0 and last >= 0 and not more then
      return { backlog = backlog, unit = unit, last = last, changed = false }
    end
  end

  -- The backlog in this rule's units, which differ from the state's if the rate was changed after the charge.
  local function in_units(rule, state)
    if state.backlog == 0 then
      return 0
    end
    local unit = rule[2]
    local tokens = math.floor(state.backlog / state.unit)
    local rest = state.backlog % state.unit * unit / state.unit
    return math.min(tokens * unit + math.ceil(rest), MAX_BACKLOG)
  end

  -- The backlog at `now`, and the effective time: not before the state's.
  local function level(rule, state)
    local now, last = now, state.last
    if now < last then
      now = last
    end
    local backlog = state.unit == rule[2] and state.backlog or in_units(rule, state)
    local level = backlog - (now - last) * rule[3]
    return level > 0 and level or 0, now
  end

  local function peek(rule, state, cost)
    local capacity, unit, drain = rule[1], rule[2], rule[3]
    local level, now = level(rule, state)
    local max_level = (capacity - cost) * unit
    local outcome, wait, excess = ADMITTED, 0, 0
    if rule[4] == 1 and cost > 0 then
      wait = math.ceil(level / drain)
      excess = rule[5] < 0 and 0 or math.max(0, wait - rule[5])
    end
    if cost > capacity then
      outcome, wait = IMPOSSIBLE, 0
    elseif cost > 0 and (level > max_level or excess > 0) then
      outcome, wait = LIMITED, math.max(math.ceil((level - max_level) / drain), excess)
    else
      level = level + cost * unit
    end
    local left = capacity * unit - level
    local remaining = 0
    if left >= unit then
      remaining = (left - left % unit) / unit
    elseif outcome ~= LIMITED then
      local missing = unit - left - 1
      remaining = EXHAUSTED + (missing - missing % drain) / drain + 1
    end
    return outcome, remaining, wait, (level - 1 - (level - 1) % drain) / drain + 1, now, level
  end

  local function set_backlog(rule, state, backlog, now)
    if backlog == 0 then
      state.backlog, state.unit, state.last = 0, 0, 0
    else
      state.backlog, state.unit, state.last = backlog, rule[2], now
    end
    state.changed = rule
  end

  local function commit(rule, state, _, at, position)
    state.backlog, state.unit, state.last, state.changed = position, rule[2], at, rule
  end

  local function serialize(rule, state)
    local backlog, drain = state.backlog, rule[3]
    local expires_at = state.last + (backlog - 1 - (backlog - 1) % drain) / drain + 1
    return expires_at, pack(-1 - backlog, state.unit, state.last)
  end

  local function corrections()
    -- Whether the rule, the charge and the state have the same units. Otherwise a refund is not possible.
    local function counts_in(rule, mark, state)
      return mark.unit == rule[2] and mark.unit == state.unit
    end

    -- Refunds a place in the queue. Only the last place can be refunded, because the delays of later requests are already set.
    local function leave_queue(rule, state, mark, cost)
      local is_last = state.last == mark.at and state.backlog == mark.position
      if counts_in(rule, mark, state) and is_last then
        set_backlog(rule, state, math.max(0, state.backlog - cost * rule[2]), state.last)
        if level(rule, state) == 0 then
          set_backlog(rule, state, 0, 0)
        end
      end
    end

    -- Refunds what has not drained of a charge.
    local function refund(rule, state, mark, cost)
      if rule[4] == 1 then
        return leave_queue(rule, state, mark, cost)
      end
      if not counts_in(rule, mark, state) then
        return
      end
      local level, now = level(rule, state)
      local undrained = math.max(0, mark.position - math.max(0, now - mark.at) * rule[3])
      local refunded = math.min(cost * rule[2], undrained)
      if refunded > 0 then
        set_backlog(rule, state, math.max(0, level - refunded), now)
      end
    end

    local function overcharge(rule, state, surplus)
      local level, now = level(rule, state)
      local max = 2 * rule[1] * rule[2]
      if level < max then
        set_backlog(rule, state, math.min(level + math.min(surplus, 2 * rule[1]) * rule[2], max), now)
      end
    end

    return refund, overcharge
  end

  algorithms.bucket = { parse = parse, peek = peek, commit = commit, serialize = serialize, corrections = corrections }
end

