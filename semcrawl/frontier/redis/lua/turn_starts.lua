-- Note that an errand's request starts now, unless its turn is void.
-- ARGS: host, errand, worker, time after which a silent errand is void (microseconds)
-- Returns whether its turn still held (1 or 0).
-- needs: leases
local host, errand, worker, patience = unpack(ARGS)
local mark = call('HGET', busy_key(host), errand)
if not mark or is_waiting(mark) then return 0 end
if mark == '0' then
  local delay = pace(host)
  call('HSET', busy_key(host), errand, delay > 0 and num(NOW) or '1')
  note_errand(host, errand, worker, NOW + patience)
  cool(host, NOW + delay)
  if delay == 0 then file_availability(host) end
end
return 1
