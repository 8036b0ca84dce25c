-- Count a worker as active for some time.
-- ARGS: worker, time (µs)
-- Returns the names of the other active workers.
local members = ROOT .. 'members'
call('ZREMRANGEBYSCORE', members, '-inf', '(' .. num(NOW))
call('ZADD', members, num(NOW + ARGS[2]), ARGS[1])
local others = {}
for _, worker in ipairs(call('ZRANGE', members, 0, -1)) do
  if worker ~= ARGS[1] then others[#others + 1] = worker end
end
return others
