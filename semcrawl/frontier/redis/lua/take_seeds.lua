-- Move seeds from a list to the pending ones; expired pending ones come first.
-- KEYS[2]: the list (or set, or sorted set). ARGS: limit, lease time (microseconds), worker
-- Returns the seeds.
-- needs: seeds
local list, limit, worker = KEYS[2], ARGS[1], ARGS[3]
local pending = pending_key(list)
local seeds = {}
for _, member in ipairs(call('ZRANGEBYSCORE', pending, '-inf', num(NOW), 'LIMIT', 0, limit)) do
  local _, seed = pending_parts(list, member)
  call('ZREM', pending, member)
  seeds[#seeds + 1] = seed
end
local kind = redis.call('TYPE', list).ok
while #seeds < limit do
  local seed
  if kind == 'set' then seed = call('SPOP', list)
  elseif kind == 'zset' then seed = call('ZPOPMAX', list)[1]
  else seed = call('LPOP', list) end
  if not seed then break end
  seeds[#seeds + 1] = seed
end
if #seeds > 0 then call('SADD', SEED_LISTS, list) end
for _, seed in ipairs(seeds) do
  call('ZADD', pending, num(NOW + ARGS[2]), pending_member(worker, seed))
end
return answer(seeds)
