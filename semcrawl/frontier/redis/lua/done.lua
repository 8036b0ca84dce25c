-- Acknowledge finished links.
-- ARGS: lease ids, digests (if there is a Bloom filter)
-- Returns the positions (from 0) of expired leases.
-- needs: leases, seen
local void, n = {}, 0
for i, id in ipairs(ARGS[1]) do
  local record = lease_record(id)
  if record then
    forget_lease(id, record)
    if ARGS[2] then seen_done(ARGS[2][i]) end
    n = n + 1
  else
    void[#void + 1] = i - 1
  end
end
seen_save()
if n > 0 then call('HINCRBY', META, 'done', n) end
return void
