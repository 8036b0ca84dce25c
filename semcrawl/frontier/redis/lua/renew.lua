-- Renew leases.
-- ARGS: lease ids, lease time (microseconds)
-- Returns 1 or 0 for each: whether it still held.
local held = {}
for i, id in ipairs(ARGS[1]) do
  local key = ROOT .. 'leases:' .. string.match(id, '^[^:]*')
  held[i] = call('ZSCORE', key, id) and 1 or 0
  if held[i] == 1 then call('ZADD', key, num(NOW + ARGS[2]), id) end
end
return held
