-- Concurrency: how much is held at once. State: for each holder its id, epoch, count, when its entry was made, and when it expires.
-- Rule: limit time_to_live retry_after holder epoch base made_at (-1 if the holder does not know its entry). A release has its own
-- `made_at`, so that releases of many keys have one rule.

if algorithms.concurrency then
  -- The value has the numbers of all holders or, if there are many, the number of holders and an array of their numbers.
  local function parse(_, value)
    local state = { changed = false, expires_at = 0 }
    if not value then
      return state
    end
    local numbers = { unpacked(value) }
    local first = -1 - numbers[1]
    if type(numbers[2]) == 'table' and not numbers[3] then
      numbers = numbers[2]
      if #numbers ~= 5 * first then
        return nil
      end
    else
      numbers[1] = first
    end
    if #numbers == 0 or #numbers % 5 ~= 0 then
      return nil
    end
    for i = 1, #numbers, 5 do
      for j = i, i + 4 do
        if numbers[j] % 1 ~= 0 or numbers[j] < 0 or numbers[j] >= INEXACT then
          return nil
        end
      end
      state[#state + 1] = {
        id = numbers[i], epoch = numbers[i + 1], count = numbers[i + 2], made_at = numbers[i + 3], expires_at = numbers[i + 4],
      }
      state.expires_at = math.max(state.expires_at, numbers[i + 4])
    end
    return state
  end

  -- What the holder of the rule holds, if it has not expired, and its index.
  local function find(rule, state)
    for i = 1, #state do
      if state[i].id == rule[4] and now < state[i].expires_at then
        return state[i], i
      end
    end
  end

  -- Whether a call has no effect: a later epoch of the holder has begun, or the entry that it knows does not exist any more.
  local function is_superseded(rule, own, made_at)
    if made_at < 0 then
      return own and own.epoch > rule[5]
    end
    return not own or own.epoch ~= rule[5] or own.made_at ~= made_at
  end

  local function peek(rule, state, cost, made_at)
    local limit, epoch, base = rule[1], rule[5], rule[6]
    made_at = made_at or rule[7]
    local held, reset_after = 0, 0
    for i = 1, #state do
      local entry = state[i]
      if now < entry.expires_at then
        if entry.id ~= rule[4] then
          held = held + entry.count
          if entry.count > 0 and entry.expires_at - now > reset_after then
            reset_after = entry.expires_at - now
          end
        end
      end
    end
    local own = find(rule, state)
    held = held + (own and own.epoch >= epoch and own.count or made_at < 0 and base or 0)
    local superseded = is_superseded(rule, own, made_at)
    local charged = cost > 0 and cost <= limit and not superseded and held + cost <= limit
    local outcome, wait = ADMITTED, 0
    if charged then
      held, reset_after = held + cost, math.max(reset_after, rule[2])
    elseif cost > limit then
      outcome = IMPOSSIBLE
    elseif cost > 0 then
      outcome, wait = LIMITED, superseded and 0 or rule[3]
    end
    if not charged and own and own.count > 0 then
      reset_after = math.max(reset_after, own.expires_at - now)
    end
    local remaining = 0
    if held < limit then
      remaining = limit - held
    elseif outcome ~= LIMITED then
      remaining = EXHAUSTED + rule[3]
    end
    return outcome, remaining, wait, reset_after, now, own and own.epoch == epoch and own.made_at or now
  end

  -- Changes what the holder holds, and returns when its entry was made, which this call makes if the state does not know the epoch; nil
  -- if the call is superseded. Removes what has expired.
  local function change(rule, state, by, made_at)
    local own, index = find(rule, state)
    if is_superseded(rule, own, made_at) then
      return nil
    end
    if not own or own.epoch < rule[5] then
      own = { id = rule[4], epoch = rule[5], count = rule[6], made_at = now, expires_at = now }
      state[index or #state + 1] = own
    end
    own.count, own.expires_at = math.max(0, own.count + by), now + rule[2]
    local alive = 0
    for i = 1, #state do
      local entry = state[i]
      state[i] = nil
      if now < entry.expires_at then
        alive = alive + 1
        state[alive] = entry
      end
    end
    state.changed = rule
    return own.made_at
  end

  local function serialize(_, state)
    local expires_at, numbers = 0, {}
    for i = 1, #state do
      local entry = state[i]
      expires_at = math.max(expires_at, entry.expires_at)
      local j = 5 * i
      numbers[j - 4], numbers[j - 3], numbers[j - 2] = entry.id, entry.epoch, entry.count
      numbers[j - 1], numbers[j] = entry.made_at, entry.expires_at
    end
    if #state > MAX_UNPACKED_HOLDERS then
      return expires_at, pack(-1 - #state, numbers)
    end
    numbers[1] = -1 - numbers[1]
    return expires_at, pack(unpack(numbers))
  end

  local function commit(rule, state, cost)
    change(rule, state, cost, rule[7])
  end

  local function renew(rule, state)
    return change(rule, state, 0, rule[7])
  end

  local function corrections()
    local function release(rule, state, mark, cost)
      return change(rule, state, -cost, mark.position)
    end

    return release, nil
  end

  algorithms.concurrency = {
    parse = parse, peek = peek, commit = commit, renew = renew, serialize = serialize, corrections = corrections,
    releases = true,
  }
end

