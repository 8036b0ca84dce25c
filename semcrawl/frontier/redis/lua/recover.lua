-- Report that a host answered: its next rest is shorter, and if it rests it may be asked again.
-- ARGS: host, decrement of its rest (microseconds), a URL that it served (or empty)
-- Returns the remaining rest, and the time it was down (microseconds; 0 if it was not).
-- needs: order
local host, step = ARGS[1], ARGS[2]
local good = call('HGET', GOOD, host)
if not good and ARGS[3] ~= '' then call('HSET', GOOD, host, ARGS[3]) end
if not good and ARGS[3] ~= '' and UNTRIED_LAST then
  file_turn(host)  -- an untried host came last
end
local since, till, rest = down_record(host)
local left = math.max((rest or tonumber(call('HGET', RESTS, host) or 0)) - step, 0)
if left > 0 then call('HSET', RESTS, host, num(left)) else call('HDEL', RESTS, host) end
if not since then return {left, 0} end
call('HDEL', DOWN, host)
if tonumber(call('HGET', REST, host) or 0) == till then call('HDEL', REST, host) end
if tonumber(call('ZSCORE', COOLING, host) or 0) == till then cool(host, NOW + pace(host)) end
file_availability(host)
return {left, NOW - since}
