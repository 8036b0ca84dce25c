-- These links could not be fetched: finished, but kept aside until they are put in again.
-- ARGS: lease ids, limit of links kept aside (the rest are only done)
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
