-- These links are finished.
-- ARGS: lease ids
-- Returns the positions (from 0) of leases that had run out.
local void, n = {}, 0
for i, id in ipairs(ARGS[1]) do
  local record = lease_record(id)
  if record then
    forget_lease(id, record)
    n = n + 1
  else
    void[#void + 1] = i - 1
  end
end
if n > 0 then call('HINCRBY', META, 'done', n) end
return void
