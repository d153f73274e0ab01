-- Sliding window log: the time of every admitted request, oldest first, as a list of integers.
-- Rule: limit window.
--
-- A log can be long, so it is never read completely. The state here describes the list in Redis: its `size`, how many of the
-- oldest entries are `expired`, the `newest` that counts, and how many this call has `added` at that time.

if algorithms.sliding_log then
  -- The time of an entry, or nil: tonumber alone accepts 'nan', '-1', '1e9' and '0x10'.
  local function time_of(entry)
    local digits = string.match(entry or '', '^%d+$')
    local time = digits and #digits <= 16 and tonumber(digits)
    return time and time < INEXACT and time or nil
  end

  -- Treats the list as empty, except for what this call has added; `stale` records that it exists.
  local function clear(state, garbage)
    state.size, state.expired, state.stale, state.garbage = 0, 0, true, garbage
    if state.added == 0 then
      state.newest, state.now = nil, now
    end
    return state
  end

  -- The number of expired entries; nil if one of those read is not a time. Usually few are expired, and those are found among the
  -- first, which are read together. The rest is a binary search, since a denial does not trim the list.
  local function expired(rule, state)
    local function is_expired(entry)
      local time = time_of(entry)
      return time and time + rule[2] <= state.now, time
    end
    local first = call('LRANGE', state.key, 0, 15)
    for i, entry in ipairs(first) do
      local has_expired, time = is_expired(entry)
      if not has_expired then
        return time and i - 1
      end
    end
    local low, high = #first, state.size - 1
    while low < high do
      local middle = math.floor((low + high) / 2)
      local has_expired, time = is_expired(call('LINDEX', state.key, middle))
      if not time then
        return nil
      elseif has_expired then
        low = middle + 1
      else
        high = middle
      end
    end
    return low
  end

  local function refresh(rule, state)
    local newest, garbage = read('LINDEX', state.key, -1)
    if garbage then
      return clear(state, true)
    elseif not newest then
      return state
    end
    newest = time_of(newest)
    if not newest then
      return clear(state, true)
    elseif newest + rule[2] <= now then
      return clear(state)
    end
    state.newest, state.now = newest, math.max(now, newest)
    state.size = call('LLEN', state.key)
    state.expired = expired(rule, state)
    return state.expired and state or clear(state, true)
  end

  local function load(rule, key)
    return refresh(rule, { key = key, size = 0, expired = 0, added = 0, now = now })
  end

  local function count(state)
    return state.size - state.expired + state.added
  end

  -- The time of the n-th oldest entry that counts; nil if it is not a time, or out of order.
  local function entry(rule, state, n)
    local index = state.expired + n - 1
    if index >= state.size then
      return state.newest
    end
    local time = time_of(call('LINDEX', state.key, index))
    return time and time <= state.newest and time + rule[2] > state.now and time or nil
  end

  -- What remains after `used`, of which `count` is in the list. The rest is the newest.
  local function remaining(rule, state, count, used)
    local excess = used - rule[1]
    if excess < 0 then
      return -excess
    end
    local first = state.now
    if excess < count then
      first = entry(rule, state, excess + 1)
    end
    return first and EXHAUSTED + first + rule[2] - state.now
  end

  local function peek(rule, state, cost)
    local limit, window, count = rule[1], rule[2], count(state)
    local used, reset_after = count + cost, count > 0 and state.newest + window - state.now or 0
    local outcome, left, wait, at = ADMITTED, 0, 0, nil
    if cost > limit or cost == 0 then
      outcome = cost > limit and IMPOSSIBLE or ADMITTED
      left = remaining(rule, state, count, count)
    elseif used <= limit then
      left, reset_after, at = remaining(rule, state, count, used), window, state.now
    else
      local oldest = entry(rule, state, used - limit)
      outcome, left, wait = LIMITED, math.max(0, limit - count), oldest and oldest + window - state.now
    end
    if not (left and wait) then
      return peek(rule, clear(state, true), cost)
    end
    return outcome, left, wait, reset_after, at, 0
  end

  local function add(rule, state, units)
    state.newest, state.added, state.changed = state.now, state.added + units, rule
  end

  local function commit(rule, state, cost)
    add(rule, state, cost)
  end

  local function serialize(rule, state)
    return state.newest and state.newest + rule[2] or 0
  end

  -- Writes the list: drops expired entries, and pushes those that this call has added.
  local function save(key, state, unit, milliseconds)
    if state.stale then
      call('DEL', key)
    elseif state.expired > 0 then
      call('LTRIM', key, state.expired, -1)
    end
    local time = format('%d', state.now)
    while state.added > 0 do
      local times = {}
      for i = 1, math.min(state.added, 1000) do
        times[i] = time
      end
      call('RPUSH', key, unpack(times))
      state.added = state.added - #times
    end
    call(unit == 'PX' and 'PEXPIRE' or 'PEXPIREAT', key, milliseconds)
  end

  local function corrections()
    -- Removes entries that this call has added first, since entries of the same time are interchangeable. LREM finds the others in
    -- Redis; if it may have removed the newest, the list is read again.
    local function refund(rule, state, mark, cost)
      if cost == 0 or count(state) == 0 or mark.at + rule[2] <= state.now then
        return
      end
      local unsaved, saved = mark.at == state.now and math.min(state.added, cost) or 0, 0
      if unsaved < cost and state.size > 0 then
        saved = call('LREM', state.key, cost - unsaved, format('%d', mark.at))
      end
      if unsaved + saved == 0 then
        return
      end
      state.added, state.size, state.changed = state.added - unsaved, state.size - saved, rule
      if state.stale then
        clear(state, state.garbage)
      elseif state.added == 0 then
        if state.expired > 0 then
          call('LTRIM', state.key, state.expired, -1)
        end
        state.size, state.expired, state.newest, state.now = 0, 0, nil, now
        refresh(rule, state)
      end
    end

    local function overcharge(rule, state, surplus)
      surplus = math.min(surplus, math.max(0, 2 * rule[1] - count(state)))
      if surplus > 0 then
        add(rule, state, surplus)
      end
    end

    return refund, overcharge
  end

  algorithms.sliding_log = {
    load = load, peek = peek, commit = commit, serialize = serialize, save = save, corrections = corrections,
  }
end

