-- Report that a host did not answer, or blocks us: it rests, longer each time, and gets one probe at a
-- time. A report while it rests concerns an earlier request, and changes nothing.
-- ARGS: host, why, first rest and increment of each further one, patience for a host that answered
-- before and for one that never did (microseconds); a negative patience does not count the time
-- Returns 1 if the patience is over, else 0; microseconds until it is asked again; microseconds since
-- it went down; why it rests; a URL that it served before.
-- needs: order
local host, why, step = ARGS[1], ARGS[2], ARGS[3]
local good = call('HGET', GOOD, host)
local longest = good and ARGS[4] or ARGS[5]
local since, till, rest, reason = down_record(host)
if since and NOW < till then return {0, till - NOW, NOW - since, reason, good or ''} end
if not since then
  since, till, reason = NOW, NOW, why
  rest = tonumber(call('HGET', RESTS, host) or 0)
elseif NOW - till > STOOD_STILL then
  -- the crawl stood still, or no link was left to probe with: that time does not count
  since = since + NOW - till
end
if longest < 0 then since = NOW end
rest = rest + step
local over = longest >= 0 and NOW - since >= longest
till = NOW + rest
if not over and longest >= 0 then till = math.min(till, since + longest) end
call('HSET', DOWN, host, string.format('%.0f %.0f %.0f %s', since, till, rest, reason))
if till > tonumber(call('HGET', REST, host) or 0) then call('HSET', REST, host, num(till)) end
cool(host, tonumber(call('ZSCORE', COOLING, host) or 0))
file_availability(host)
return {over and 1 or 0, till - NOW, NOW - since, reason, good or ''}
