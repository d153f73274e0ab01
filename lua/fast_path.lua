-- The fast path, for almost all calls: packed ones that consist of acquires, leases, and releases of concurrency limits, by all
-- algorithms but the log, whose state is not a string.
--
-- Redis takes as long to create a function or a table, or to call a function, as for twenty to a hundred simple steps. So here is one
-- loop with a block of code per algorithm, which follows its `peek` and `commit` in the files below. Rules stay in the arguments, and
-- states in their serialized form. If a call contains anything else, a value is no state, or a command fails, then nothing has been
-- written, and the parts below decide.

-- In place of when a key expires: as in Redis.
local KEEP = -1

-- The bytes of five numbers: a longer value of a concurrency limit has more holders than one.
local MAX_HOLDER_LENGTH = 45

-- Returns the reply, and for each key its value and, if it has changed, when it expires; nothing if it cannot decide. It is called by
-- pcall: a value that cannot be unpacked, or is no number where one is compared with another, raises an error, so the types of numbers
-- need no check. It has parameters for all that it uses, since to capture a local takes ten times as long as to pass it.
local function decide(
  args, now, named, call, pack, unpacked, ADMITTED, LIMITED, IMPOSSIBLE, EXHAUSTED, INEXACT, MAX_BACKLOG, KEEP,
  MAX_HOLDER_LENGTH, MAX_UNPACKED_HOLDERS
)
  -- The rules: for each, the index of its algorithm's name in the arguments. Its numbers follow the name.
  local rules, cursor = { nil }, 3
  for i = 1, args[2] do
    local name = args[cursor]
    rules[i], cursor = cursor, cursor + (name == 'leaky_bucket' and 6 or name == 'concurrency' and 8 or 4)
    if name ~= 'token_bucket' and name ~= 'sliding_counter' and name ~= 'fixed_window' and name ~= 'leaky_bucket'
      and name ~= 'concurrency' then
      return
    end
  end
  local operations, operation = args[cursor], cursor + 1
  for _ = 1, operations do
    local name, charges, width = args[operation], args[operation + 1], 4
    if name == 'settle' then
      width = 7
      for charge = operation + 2, operation + 1 + 7 * charges, 7 do
        if args[rules[args[charge + 1]]] ~= 'concurrency' then
          return
        end
      end
    elseif name ~= 'acquire' and name ~= 'lease' then
      return
    end
    operation = operation + 2 + width * charges
  end

  local keys, values = #KEYS, nil
  if keys == 1 then
    values = { call('GET', KEYS[1]) }
  else
    values = call('MGET', unpack(KEYS))
    -- A key of another type has no value in the reply of MGET either.
    local missing
    for key = 1, keys do
      if not values[key] then
        missing = missing or {}
        missing[#missing + 1] = KEYS[key]
      end
    end
    if missing and call('EXISTS', unpack(missing)) > 0 then
      return
    end
  end

  -- When the keys that have changed expire. KEEP: as in Redis.
  local expires = { nil, nil, nil, nil }

  -- The time, then six numbers per charge; the table is preallocated for one charge, like most calls. `written` is its length.
  local reply, written = { now, nil, nil, nil, nil, nil, nil }, 1

  -- The values that the charges of an operation get if all of them are admitted, and when they expire.
  local next_values, next_expires = { nil, nil, nil, nil }, { nil, nil, nil, nil }

  -- Whether the last acquire was admitted: otherwise the leases after it are not charged.
  local passed = false

  operation = cursor + 1
  for _ = 1, operations do
    local charges = args[operation + 1]
    local is_lease, releases = args[operation] == 'lease', args[operation] == 'settle'
    local width = releases and 7 or 4
    local first, last = operation + 2, operation + 1 + width * charges
    local admitted, denied = true, false
    repeat
      if is_lease and not passed then
        admitted = false
        for tier = written, written + 6 * charges - 6, 6 do
          reply[tier + 1], reply[tier + 2], reply[tier + 3] = LIMITED, 0, 0
          reply[tier + 4], reply[tier + 5], reply[tier + 6] = 0, -1, -1
        end
        break
      end
      local tier, i = written, 0
      for charge = first, last, width do
        i = i + 1
        -- In a denied group, a tier that would admit reports its unchanged state.
        if not denied or reply[tier + 1] == ADMITTED then
          local key, rule, cost = args[charge], rules[args[charge + 1]], denied and 0 or args[charge + 2]
          local name, value = args[rule], values[key]
          local outcome, remaining, wait, reset_after, at, position = ADMITTED, 0, 0, 0, now, 0
          local next_value, expires_at

          if name == 'token_bucket' or name == 'leaky_bucket' then
            local capacity, unit, drain = args[rule + 1], args[rule + 2], args[rule + 3]
            local backlog, charged_unit, last, more = 0, unit, 0, nil
            if value then
              backlog, charged_unit, last, more = unpacked(value)
              local exact = backlog < -1 and backlog > -INEXACT and charged_unit > 0 and charged_unit < INEXACT
                and last >= 0 and last < INEXACT
              if not exact or backlog % 1 + charged_unit % 1 + last % 1 ~= 0 or more then
                return
              end
              backlog = -1 - backlog
            end
            if charged_unit ~= unit then
              local tokens = math.floor(backlog / charged_unit)
              local rest = backlog % charged_unit * unit / charged_unit
              backlog = math.min(tokens * unit + math.ceil(rest), MAX_BACKLOG)
            end
            if at < last then
              at = last
            end
            local level = backlog - (at - last) * drain
            if level < 0 then
              level = 0
            end
            local max_level, excess = (capacity - cost) * unit, 0
            if name == 'leaky_bucket' and cost > 0 and args[rule + 4] == 1 then
              wait = math.ceil(level / drain)
              excess = args[rule + 5] < 0 and 0 or math.max(0, wait - args[rule + 5])
            end
            if cost > capacity then
              outcome, wait = IMPOSSIBLE, 0
            elseif cost > 0 and (level > max_level or excess > 0) then
              outcome, wait = LIMITED, math.max(math.ceil((level - max_level) / drain), excess)
            else
              level = level + cost * unit
            end
            local left = capacity * unit - level
            if left >= unit then
              remaining = (left - left % unit) / unit
            elseif outcome ~= LIMITED then
              local missing = unit - left - 1
              remaining = EXHAUSTED + (missing - missing % drain) / drain + 1
            end
            reset_after, position = (level - 1 - (level - 1) % drain) / drain + 1, level
            if cost > 0 and outcome == ADMITTED then
              next_value, expires_at = pack(-1 - level, unit, at), at + reset_after
            end

          elseif name == 'fixed_window' then
            local limit, window = args[rule + 1], args[rule + 2]
            local start, count, more = 0, 0, nil
            if value then
              start, count, more = unpacked(value)
              local exact = start < 0 and start > -INEXACT and count > 0 and count < INEXACT
              if not exact or start % 1 + count % 1 ~= 0 or more then
                return
              end
              start = -1 - start
            end
            if count > 0 and now < start + window then
              expires_at = named and start + window or KEEP
              if at < start then
                at = start
              end
            else
              start, count = args[rule + 3] == 1 and now or now - now % window, 0
              expires_at = start + window
            end
            local left = start + window - at
            if cost > limit then
              outcome = IMPOSSIBLE
            elseif cost > 0 and count + cost > limit then
              outcome, wait = LIMITED, left
            else
              count = count + cost
            end
            if count < limit then
              remaining = limit - count
            elseif outcome ~= LIMITED then
              remaining = EXHAUSTED + left
            end
            reset_after, position = count == 0 and 0 or left, start
            if cost > 0 and outcome == ADMITTED then
              next_value = pack(-1 - start, count)
            end

          elseif name == 'concurrency' then
            local limit, time_to_live, retry_after = args[rule + 1], args[rule + 2], args[rule + 3]
            local id, epoch, base = args[rule + 4], args[rule + 5], args[rule + 6]
            local made_at = releases and args[charge + 4] or args[rule + 7]
            -- The holder's own entry: `own_epoch` is nil without one, or if it has expired. Usually it is the only one, and is read
            -- without a table.
            local own_epoch, own_count, own_made_at, own_left = nil, 0, 0, 0
            -- What the others hold, the numbers of all entries if there may be others, the index of the own entry in them, whether
            -- any has expired, and when the last one expires.
            local held, numbers, own, has_expired, latest = 0, nil, nil, false, 0
            if value then
              local first, more
              if #value <= MAX_HOLDER_LENGTH then
                first, own_epoch, own_count, own_made_at, latest, more = unpacked(value)
              end
              if first == -1 - id and more == nil then
                local exact = own_epoch >= 0 and own_epoch < INEXACT and own_count >= 0 and own_count < INEXACT
                  and own_made_at >= 0 and own_made_at < INEXACT and latest >= 0 and latest < INEXACT
                if not exact or own_epoch % 1 + own_count % 1 + own_made_at % 1 + latest % 1 ~= 0 then
                  return
                end
                own_left = latest - now
                if own_left <= 0 then
                  own_epoch = nil
                end
              else
                numbers = { unpacked(value) }
                if type(numbers[2]) == 'table' and numbers[3] == nil then
                  first, numbers = numbers[1], numbers[2]
                  if #numbers ~= 5 * (-1 - first) then
                    return
                  end
                else
                  numbers[1] = -1 - numbers[1]
                end
                local length = #numbers
                if length == 0 or length % 5 ~= 0 then
                  return
                end
                own_epoch, latest = nil, 0
                for i = 1, length, 5 do
                  local other, epoch, count, made_at = numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]
                  local expires_at = numbers[i + 4]
                  local exact = other >= 0 and other < INEXACT and epoch >= 0 and epoch < INEXACT and count >= 0
                    and count < INEXACT and made_at >= 0 and made_at < INEXACT and expires_at >= 0 and expires_at < INEXACT
                  if not exact or other % 1 + epoch % 1 + count % 1 + made_at % 1 + expires_at % 1 ~= 0 then
                    return
                  end
                  local left = expires_at - now
                  if left <= 0 then
                    has_expired = true
                  elseif other == id then
                    own, own_epoch, own_count, own_made_at, own_left = i, epoch, count, made_at, left
                  else
                    held = held + count
                    if count > 0 and left > reset_after then
                      reset_after = left
                    end
                  end
                  if expires_at > latest then
                    latest = expires_at
                  end
                end
              end
            end
            local superseded
            if made_at < 0 then
              superseded = own_epoch and own_epoch > epoch
            else
              superseded = own_epoch ~= epoch or own_made_at ~= made_at
            end
            local count = own_epoch and own_epoch >= epoch and own_count or made_at < 0 and base or 0
            local changed = (releases or cost > 0) and not superseded
            if releases then
              count = changed and math.max(0, count - cost) or count
            elseif cost > limit then
              outcome, changed = IMPOSSIBLE, false
            elseif cost > 0 and (superseded or held + count + cost > limit) then
              outcome, wait, changed = LIMITED, superseded and 0 or retry_after, false
            else
              count = count + cost
            end
            held = held + count
            if held < limit then
              remaining = limit - held
            elseif outcome ~= LIMITED then
              remaining = EXHAUSTED + retry_after
            end
            if changed then
              position, latest = own_epoch == epoch and own_made_at or now, now + time_to_live
              if not numbers then
                next_value = pack(-1 - id, epoch, count, position, latest)
              else
                own = own or #numbers + 1
                numbers[own], numbers[own + 1], numbers[own + 2] = id, epoch, count
                numbers[own + 3], numbers[own + 4] = position, latest
                if has_expired then
                  local alive = {}
                  for i = 1, #numbers do
                    if now < numbers[i + 4 - (i - 1) % 5] then
                      alive[#alive + 1] = numbers[i]
                    end
                  end
                  numbers = alive
                end
                for i = 5, #numbers, 5 do
                  if numbers[i] > latest then
                    latest = numbers[i]
                  end
                end
                local holders = #numbers / 5
                if holders <= MAX_UNPACKED_HOLDERS then
                  numbers[1] = -1 - numbers[1]
                  next_value = pack(unpack(numbers))
                else
                  next_value = pack(-1 - holders, numbers)
                end
              end
              expires_at = latest
              if count > 0 and time_to_live > reset_after then
                reset_after = time_to_live
              end
            elseif own_epoch and own_count > 0 and own_left > reset_after then
              reset_after = own_left
            end

          elseif name == 'sliding_counter' then
            local limit, width, sub_windows = args[rule + 1], args[rule + 2], args[rule + 3]
            -- -1 - newest, and the counts from there back. Text that looks like a number raises an error in comparisons only.
            local state = value and { unpacked(value) } or { -1 }
            local newest, length = -1 - state[1], #state
            if value and (state[1] >= 0 or newest % 1 ~= 0 or newest * width >= INEXACT or length > sub_windows + 2
              or length < 2 or state[2] == 0) then
              return
            end
            for i = 2, length do
              local count = state[i]
              if count < 0 or count >= INEXACT or count % 1 ~= 0 then
                return
              end
            end
            if at < newest * width then
              at = newest * width
            end
            local elapsed = at % width
            local index = (at - elapsed) / width
            local age = index - newest
            local used, oldest = 0, 0
            if age <= sub_windows then
              for i = 2, sub_windows - age + 1 do
                used = used + (state[i] or 0)
              end
              oldest = state[sub_windows - age + 2] or 0
            end
            if oldest > 0 then
              used = used + math.floor(oldest * (width - elapsed) / width)
            end
            local ends = sub_windows + 1
            if length > 1 and age < ends then
              reset_after = (ends - age) * width - elapsed
            end
            -- The time until at most `allowance` is used, if that is asked for, without other charges than `pending` now.
            local allowance, pending = nil, 0
            if cost > limit then
              outcome = IMPOSSIBLE
            elseif cost > 0 and used > limit - cost then
              outcome, allowance = LIMITED, limit - cost
            else
              used, pending = used + cost, cost
            end
            if used < limit then
              remaining = limit - used
            elseif outcome ~= LIMITED then
              allowance = limit - 1
            end
            if allowance then
              local ahead, retry_after = -1, nil
              repeat
                ahead = ahead + 1
                local age = age + ahead
                local max = allowance - (ahead < sub_windows and pending or 0)
                for i = 2, sub_windows - age + 1 do
                  max = max - (state[i] or 0)
                end
                if max >= 0 then
                  local oldest = age <= sub_windows and state[sub_windows - age + 2] or 0
                  oldest = oldest + (ahead == sub_windows and pending or 0)
                  local start = ahead == 0 and elapsed or 0
                  if oldest > max then
                    start = math.max(math.floor(width - (max + 1) * width / oldest), start)
                    while start < width and math.floor(oldest * (width - start) / width) > max do
                      start = start + 1
                    end
                  end
                  if start < width then
                    retry_after = ahead * width + start - elapsed
                  end
                end
              until retry_after
              if outcome == LIMITED then
                wait = retry_after
              else
                remaining = EXHAUSTED + retry_after
              end
            end
            if cost > 0 and outcome == ADMITTED then
              position, reset_after, expires_at = index, ends * width - elapsed, (index + ends) * width
              if age == 0 and length > 1 then
                state[2], expires_at = state[2] + cost, named and expires_at or KEEP
              else
                local counts = { -1 - index, cost }
                for back = 1, sub_windows do
                  counts[back + 2] = back >= age and state[back - age + 2] or 0
                end
                length = sub_windows + 2
                while counts[length] == 0 do
                  counts[length], length = nil, length - 1
                end
                state = counts
              end
              next_value = pack(unpack(state))
            end

          else
            return
          end

          if not next_value then
            admitted = admitted and (releases or outcome == ADMITTED or args[charge + 3] == 1)
            at, position = -1, -1
          end
          reply[tier + 1], reply[tier + 2], reply[tier + 3] = outcome, remaining, wait
          reply[tier + 4], reply[tier + 5], reply[tier + 6] = reset_after, at, position
          next_values[i], next_expires[i] = next_value, expires_at
        end
        if denied then
          reply[tier + 5], reply[tier + 6] = -1, -1
        end
        tier = tier + 6
      end
      denied = not admitted and not denied
    until not denied
    if not is_lease and not releases then
      passed = admitted
    end
    for i = 1, admitted and charges or 0 do
      local key, value, expires_at = args[first + width * (i - 1)], next_values[i], next_expires[i]
      if value then
        values[key] = value
        -- A key that this call has changed before has not got its expiry yet.
        if expires_at ~= KEEP or not expires[key] then
          expires[key] = expires_at
        end
      end
    end
    operation, written = last + 1, written + 6 * charges
  end
  return reply, values, expires
end

if packed and #KEYS <= 1000 then
  local decided, reply, values, expires = pcall(
    decide, args, now, named, call, pack, unpacked, ADMITTED, LIMITED, IMPOSSIBLE, EXHAUSTED, INEXACT, MAX_BACKLOG, KEEP,
    MAX_HOLDER_LENGTH, MAX_UNPACKED_HOLDERS
  )
  decided = decided and reply
  -- Only the first write can fail: for the others, memory and permissions are the same.
  local write = redis.pcall
  for key = 1, decided and #KEYS or 0 do
    local expires_at = expires[key]
    if expires_at then
      local result
      if expires_at == KEEP then
        result = write('SET', KEYS[key], values[key], 'KEEPTTL')
      elseif named then
        local milliseconds = math.max(3600000, math.ceil((expires_at - now) / 1000))
        result = write('SET', KEYS[key], values[key], 'PX', format('%d', milliseconds))
      else
        result = write('SET', KEYS[key], values[key], 'PXAT', format('%d', (expires_at + -expires_at % 1000) / 1000))
      end
      if result.err then
        decided = false
        break
      end
      write = call
    end
  end
  if decided then
    return pack(reply)
  end
end

