-- Note that these requests start now, unless their leases expired.
-- ARGS: lease ids
-- Returns 1 or 0 for each: whether it still held.
-- needs: leases
local held = {}
for i, id in ipairs(ARGS[1]) do
  local record = lease_record(id)
  held[i] = record and 1 or 0
  if record and call('HGET', busy_key(record.host), id) == '0' then
    local delay = pace(record.host)
    call('HSET', busy_key(record.host), id, delay > 0 and num(NOW) or '1')
    cool(record.host, NOW + delay)
    if delay == 0 then file_availability(record.host) end
  end
end
return held
