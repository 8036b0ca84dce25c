-- Ask for a host's next turn for an errand: a request that is not for a link.
-- Errands queue first in, first out, and go before links.
-- ARGS: host, errand, worker, time after which a silent errand is void (microseconds), poll time
-- (microseconds), id of a lease that cedes its turn to it (or false)
-- Returns the microseconds after which to ask again; 0 if its turn is now and the host is held for it;
-- -1 if there is no delay, so that nothing is counted.
-- needs: leases
local host, errand, worker, patience, poll, giver = unpack(ARGS)
local busy = busy_key(host)
local function say(wait)
  note_errand(host, errand, worker, NOW + wait + patience)
  return wait
end
local function begin()
  call('HSET', busy, errand, '0')
  cool(host, NOW + patience)
  file_availability(host)
  return say(0)
end

tick()
local mark = call('HGET', busy, errand)
if mark and not is_waiting(mark) then return 0 end
if giver and call('HGET', busy, giver) == '0' then
  call('HDEL', busy, giver)
  return begin()
end
local delay, concurrency = pace(host)
if delay == 0 then
  if mark then end_errand(host, errand, worker) end
  return -1
end
if not mark then
  call('HSET', busy, errand, 'w' .. call('HINCRBY', META, 'takes', '1'))
end
local first, sent, held = line(host)
local till = tonumber(call('ZSCORE', COOLING, host) or 0)
if first == errand and sent < concurrency and till <= NOW then return begin() end
if not mark then
  say(0)
  file_availability(host)
end
-- it is unknown when held requests start, and when those in flight end
if held or till <= NOW then return say(poll) end
return say(math.ceil(till - NOW))
