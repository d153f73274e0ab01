-- Sends requests of 10,000 users in turn, encoded beforehand.
local requests, index = {}, 0

function init()
  for user = 1, 10000 do
    requests[user] = wrk.format("GET", nil, { ["X-User-Id"] = tostring(user) })
  end
end

function request()
  index = index % #requests + 1
  return requests[index]
end

-- Prints the results: times in microseconds, and failures by kind.
function done(summary, latency)
  local failed = summary.errors
  for _, kind in ipairs({ "connect", "read", "write", "timeout", "status" }) do
    if failed[kind] > 0 then
      print("failed: " .. failed[kind] .. " by " .. kind)
    end
  end
  print("requests: " .. summary.requests)
  print("duration: " .. summary.duration)
  print("median: " .. latency:percentile(50))
  print("p99: " .. latency:percentile(99))
end
