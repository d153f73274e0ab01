-- The rules of a call that fast_path has not decided, and what its algorithms and operations share.

local cursor = 1
local function argument()
  cursor = cursor + 1
  return args[cursor]
end

-- The rules: the algorithm, first by name, and its numbers, in the order that the algorithm documents.
local rules, algorithms = {}, {}
for i = 1, argument() do
  local name, first, numbers = args[cursor + 1], cursor + 2, 3
  local rule = { args[first], args[first + 1], args[first + 2], false, false, algorithm = name }
  if name == 'token_bucket' then
    rule.algorithm = 'bucket'
  elseif name == 'leaky_bucket' then
    rule.algorithm, numbers = 'bucket', 5
    rule[4], rule[5] = args[first + 3], args[first + 4]
  elseif name == 'sliding_log' then
    rule[3], numbers = false, 2
  elseif name == 'concurrency' then
    numbers = 7
    rule[4], rule[5], rule[6], rule[7] = args[first + 3], args[first + 4], args[first + 5], args[first + 6]
  end
  rules[i], algorithms[rule.algorithm or ''] = rule, true
  cursor = cursor + 1 + numbers
end

-- The reply of a reading command; nil and true if the key has another type, which affects only that key. Any other error fails
-- the operation: a limit that cannot be read must not count as fresh.
local function read(...)
  local value = redis.pcall(...)
  if type(value) ~= 'table' or not value.err then
    return value
  elseif string.find(value.err, 'WRONGTYPE', 1, true) then
    return nil, true
  end
  return call(...) -- raises the error unchanged
end

-- The arguments for the expiry of a key. Redis expires keys by its own clock, so with a time of the caller the time-to-live is an
-- hour at least.
local function lifetime(expires_at)
  if named then
    return 'PX', format('%d', math.max(3600000, math.ceil((expires_at - now) / 1000)))
  end
  return 'PXAT', format('%d', (expires_at + -expires_at % 1000) / 1000)
end

