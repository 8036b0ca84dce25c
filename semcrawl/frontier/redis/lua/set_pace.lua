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
local _, _, held = line(host)
if till and not held then cool(host, tonumber(till) - old + delay) end
if old == 0 and delay > 0 then
  -- requests in flight were not counted, the one that told of the delay among them: they count as sent
  -- now
  local marks = call('HGETALL', busy_key(host))
  for i = 1, #marks, 2 do
    if marks[i + 1] == '1' then call('HSET', busy_key(host), marks[i], num(NOW)) end
  end
  if not held then cool(host, NOW + delay) end
end
file_availability(host)
return 1
