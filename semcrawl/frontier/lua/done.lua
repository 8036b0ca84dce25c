-- These links are finished.
-- ARGS: lease ids
-- Returns how many leases still held.
local n = 0
for _, id in ipairs(ARGS[1]) do
  local record = lease_record(id)
  if record then
    forget_lease(id, record)
    n = n + 1
  end
end
if n > 0 then call('HINCRBY', META, 'done', n) end
return n
