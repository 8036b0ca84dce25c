-- Acknowledge links that could not be fetched, and keep them for a requeue.
-- ARGS: lease ids, limit of failed links (beyond it they are dropped)
-- Returns how many leases still held.
-- needs: leases
local n = 0
for _, id in ipairs(ARGS[1]) do
  local record = lease_record(id)
  if record then
    forget_lease(id, record)
    n = n + 1
    local key = ROOT .. 'failed:' .. record.queue
    if call('HLEN', key) < ARGS[2] then
      call('HSET', key, string.sub(record.member, 1, SEQ),
           cmsgpack.pack({record.host, record.group, record.key, record.member}))
    end
  end
end
if n > 0 then call('HINCRBY', META, 'failed', n) end
return n
