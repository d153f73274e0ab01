-- KEYS: the counter. ARGV: the time-to-live in milliseconds.
local held = redis.call('DECR', KEYS[1])
if held <= 0 then
  redis.call('DEL', KEYS[1])
else
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return held
