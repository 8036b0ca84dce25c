-- These downloads are over; their hosts may be asked again.
-- ARGS: lease ids
-- needs: leases
for _, id in ipairs(ARGS[1]) do
  local record = lease_record(id)
  if record then release(record.host, id) end
end
return 1
