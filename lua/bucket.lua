-- The machine behind both buckets: a backlog that drains at a steady rate. State: backlog, unit, last.
-- Rule: capacity unit drain, and for a leaky bucket queue (1 or 0) and max_wait (-1 for none).

local function bucket(leaky)
  local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
  local MOST = 4503599627370496

  local function rule()
    local capacity, unit, drain = argument(), argument(), argument()
    local rule = { capacity = capacity, unit = unit, drain = drain, full = capacity * unit, max_wait = -1 }
    if leaky then
      rule.queue = argument() == 1
      rule.max_wait = argument()
    end
    return rule
  end

  local function fresh()
    return { backlog = 0, unit = 0, last = 0, changed = false }
  end

  local function parse(_, text)
    local backlog, unit, last = string.match(text, '^(%d+) (%d+) (%d+)$')
    backlog, unit, last = whole(backlog), whole(unit), whole(last)
    if backlog and unit and last and backlog > 0 and unit > 0 then
      return { backlog = backlog, unit = unit, last = last, changed = false }
    end
  end

  -- The backlog in this rule's units, which are not the state's when the rate has been changed in between.
  local function in_units(rule, state)
    if state.unit == rule.unit or state.backlog == 0 then
      return state.backlog
    end
    local tokens = floor(state.backlog / state.unit)
    local rest = state.backlog % state.unit * rule.unit / state.unit
    return min(tokens * rule.unit + ceil(rest), MOST)
  end

  -- What is still owed, and the time by the bucket's own reckoning.
  local function level(rule, state)
    local now = max(now, state.last)
    return max(0, in_units(rule, state) - (now - state.last) * rule.drain), now
  end

  local function answer(rule, outcome, level, wait)
    return outcome, floor(max(0, rule.full - level) / rule.unit), wait, ceil(level / rule.drain)
  end

  local function peek(rule, state, cost)
    local level, now = level(rule, state)
    if cost > rule.capacity then
      return answer(rule, IMPOSSIBLE, level, 0)
    end
    local need = cost * rule.unit
    local room = rule.full - need
    local delay, too_long = 0, 0
    if rule.queue and cost > 0 then
      delay = ceil(level / rule.drain)
      too_long = rule.max_wait < 0 and 0 or max(0, delay - rule.max_wait)
    end
    if cost > 0 and (level > room or too_long > 0) then
      return answer(rule, LIMITED, level, max(ceil((level - room) / rule.drain), too_long))
    end
    level = level + need
    return ADMITTED, floor(max(0, rule.full - level) / rule.unit), delay, ceil(level / rule.drain), now, level
  end

  local function owe(rule, state, backlog, now)
    if backlog == 0 then
      state.backlog, state.unit, state.last = 0, 0, 0
    else
      state.backlog, state.unit, state.last = backlog, rule.unit, now
    end
    state.changed = rule
  end

  local function commit(rule, state, _, at, place)
    owe(rule, state, place, at)
  end

  local function expires_at(rule, state)
    return state.last + ceil(in_units(rule, state) / rule.drain)
  end

  local function text(state)
    return string.format('%d %d %d', state.backlog, state.unit, state.last)
  end

  local function corrections()
    -- A charge can only be given back in the units that it was taken in.
    local function counts_in(rule, mark, state)
      return mark.unit == rule.unit and mark.unit == state.unit
    end

    -- Gives back a place in a queue, whose later places are promised already: only the last may go.
    local function leave_queue(rule, state, mark, cost)
      local nobody_since = state.last == mark.at and state.backlog == mark.place
      if counts_in(rule, mark, state) and nobody_since then
        owe(rule, state, max(0, state.backlog - cost * rule.unit), state.last)
        if level(rule, state) == 0 then
          owe(rule, state, 0, 0)
        end
      end
    end

    -- Gives back what is still owed of a charge: what has drained since is nobody's to give.
    local function refund(rule, state, mark, cost)
      if rule.queue then
        return leave_queue(rule, state, mark, cost)
      end
      if not counts_in(rule, mark, state) then
        return
      end
      local level, now = level(rule, state)
      local owed = max(0, mark.place - max(0, now - mark.at) * rule.drain)
      local given = min(cost * rule.unit, owed)
      if given > 0 then
        owe(rule, state, max(0, level - given), now)
      end
    end

    local function overcharge(rule, state, surplus)
      local level, now = level(rule, state)
      local most = 2 * rule.full
      if level < most then
        owe(rule, state, min(level + min(surplus, 2 * rule.capacity) * rule.unit, most), now)
      end
    end

    return refund, overcharge
  end

  return {
    rule = rule, fresh = fresh, parse = parse, peek = peek, commit = commit, expires_at = expires_at, text = text,
    corrections = corrections,
  }
end

function algorithms.token_bucket()
  return bucket(false)
end

function algorithms.leaky_bucket()
  return bucket(true)
end
