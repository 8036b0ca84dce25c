-- A host answered: what it would rest next time shrinks, and if it rests it may be asked again.
-- ARGS: host, what its rest shrinks by (microseconds), an address that it gave (or empty)
-- Returns what is left of its rest, and for how long it was down (microseconds; 0 if it was not).
-- needs: order
local host, step = ARGS[1], ARGS[2]
if ARGS[3] ~= '' then call('HSETNX', GOOD, host, ARGS[3]) end
local since, till, rest = down_record(host)
local left = math.max((rest or tonumber(call('HGET', RESTS, host) or 0)) - step, 0)
if left > 0 then call('HSET', RESTS, host, num(left)) else call('HDEL', RESTS, host) end
if not since then return {left, 0} end
call('HDEL', DOWN, host)
if tonumber(call('HGET', REST, host) or 0) == till then call('HDEL', REST, host) end
if tonumber(call('ZSCORE', COOLING, host) or 0) == till then cool(host, NOW + pace(host)) end
file_availability(host)
return {left, NOW - since}
