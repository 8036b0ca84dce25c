-- Let a host rest at least for a time, as it asked for.
-- ARGS: host, time (microseconds)
-- needs: order
local host, till = ARGS[1], NOW + ARGS[2]
if till > tonumber(call('HGET', REST, host) or 0) then call('HSET', REST, host, num(till)) end
cool(host, tonumber(call('ZSCORE', COOLING, host) or 0))
file_availability(host)
return 1
