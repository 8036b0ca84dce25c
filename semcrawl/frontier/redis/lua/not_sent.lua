-- Note that no request is sent for these links, so their hosts may be asked at once.
-- ARGS: lease ids
-- needs: leases
for _, id in ipairs(ARGS[1]) do
  local record = lease_record(id)
  local busy = record and busy_key(record.host)
  if busy and call('HGET', busy, id) == '0' then
    call('HDEL', busy, id)
    cool(record.host, NOW)
    file_availability(record.host)
  end
end
return 1
