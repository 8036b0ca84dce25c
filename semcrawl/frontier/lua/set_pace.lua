-- Set a host's crawl delay and concurrency.
-- ARGS: host, delay (microseconds), concurrency, whether a longer delay stays (1)
-- needs: order
local host, delay, concurrency = ARGS[1], ARGS[2], ARGS[3]
local old = pace(host)
if ARGS[4] == 1 and delay < old then delay = old end
if delay == OPTIONS.delay and concurrency == OPTIONS.concurrency then
  call('HDEL', PACE, host)
else
  call('HSET', PACE, host, string.format('%.0f %.0f', delay, concurrency))
end
local till = call('ZSCORE', COOLING, host)
local held = false
for _, flag in ipairs(call('HVALS', busy_key(host))) do held = held or flag == '0' end
if till and not held then cool(host, tonumber(till) - old + delay) end
file_availability(host)
return 1
