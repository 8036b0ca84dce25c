-- End downloads, which frees their hosts' concurrency, or note that no request is sent for these links,
-- so that their hosts may be asked at once.
-- ARGS: lease ids, whether requests were sent
-- needs: leases
if ARGS[2] then
  release_all(ARGS[1])
  return 1
end
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
