-- Count links, hosts and seeds.
-- ARGS: queues, keys of seed lists
-- Returns waiting, leased, seeds, seen, hosts, dropped, {label, number, label, number, ...}, and a token
-- that changes with every addition or take
-- needs: leases
local waiting, leased, seeds, hosts, labels = 0, 0, 0, 0, {}
tick()
for _, queue in ipairs(ARGS[1]) do
  local flat = call('HGETALL', ROOT .. 'labels:' .. queue)
  local n = 0
  for i = 1, #flat, 2 do
    labels[#labels + 1] = flat[i]
    labels[#labels + 1] = tonumber(flat[i + 1])
    n = n + tonumber(flat[i + 1])
  end
  -- the structures decide whether anything waits, never the sums
  local groups = call('ZCARD', ROOT .. 'order:' .. queue)
  local delayed = call('ZCARD', ROOT .. 'delayed:' .. queue)
  waiting = waiting + (groups + delayed == 0 and 0 or math.max(n, groups + delayed))
  leased = leased + call('ZCARD', ROOT .. 'leases:' .. queue)
  hosts = hosts + call('HLEN', ROOT .. 'hosts:' .. queue)
end
for i, key in ipairs(ARGS[2]) do
  local kind = redis.call('TYPE', key).ok
  if kind == 'set' then seeds = seeds + call('SCARD', key)
  elseif kind == 'zset' then seeds = seeds + call('ZCARD', key)
  else seeds = seeds + call('LLEN', key) end
  seeds = seeds + call('ZCARD', ROOT .. 'pending:' .. key)
end
-- digests in the table and in the Bloom filter, less those in both and (in the first shard) those that
-- several shards have
local s = call('HMGET', META, 'seen', 'bloomed', 'passing', 'seq', 'takes', 'copied')
local seen = tonumber(s[1] or 0) + tonumber(s[2] or 0) - tonumber(s[3] or 0) - tonumber(s[6] or 0)
local dropped = tonumber(call('HGET', META, 'dropped') or 0)
return {waiting, leased, seeds, seen, hosts, dropped, labels, (s[4] or '') .. ' ' .. (s[5] or '')}
