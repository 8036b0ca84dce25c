-- Move seeds from a list to the pending ones; pending ones whose lease ran out go back first.
-- KEYS[2]: the list (or set, or sorted set). ARGS: limit, lease time (microseconds)
-- Returns the seeds.
local list, limit = KEYS[2], ARGS[1]
local pending = ROOT .. 'pending:' .. list
local seeds = call('ZRANGEBYSCORE', pending, '-inf', num(NOW), 'LIMIT', 0, limit)
local kind = redis.call('TYPE', list).ok
while #seeds < limit do
  local seed
  if kind == 'set' then seed = call('SPOP', list)
  elseif kind == 'zset' then seed = call('ZPOPMAX', list)[1]
  else seed = call('LPOP', list) end
  if not seed then break end
  seeds[#seeds + 1] = seed
end
for _, seed in ipairs(seeds) do call('ZADD', pending, num(NOW + ARGS[2]), seed) end
return answer(seeds)
