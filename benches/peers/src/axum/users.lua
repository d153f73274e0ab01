-- wrk sends requests of 10,000 users, one after another, encoded beforehand.
local requests, turn = {}, 0

function init()
  for user = 1, 10000 do
    requests[user] = wrk.format("GET", nil, { ["X-User-Id"] = tostring(user) })
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end
