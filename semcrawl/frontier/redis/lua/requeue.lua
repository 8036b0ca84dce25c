-- Put failed links back into their groups, as if never taken.
-- ARGS: queues, limit
-- Returns how many.
-- needs: leases
local n = 0
for _, queue in ipairs(ARGS[1]) do
  local key = ROOT .. 'failed:' .. queue
  for _, seq in ipairs(call('HKEYS', key)) do
    if n >= ARGS[2] then return n end
    local ok, record = pcall(cmsgpack.unpack, call('HGET', key, seq))
    if not ok or type(record) ~= 'table' or #record ~= 4 then corrupt(key, 'a failed link') end
    local m = fresh_member(record[4])
    call('HDEL', key, seq)
    count(queue, member_label(m), 1)
    put(queue, record[1], record[2], record[3], m)
    n = n + 1
  end
end
return n
