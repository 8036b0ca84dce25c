-- Ask whether a host may send to its address now; if not, reserve its next turn there.
-- ARGS: host, address, name of the request, least time between two requests to the address, most
-- requests at a time, time after which a request counts as over, whether the host rests until its turn
-- (1 or 0); times in microseconds
-- Returns 0 if it may, else the microseconds until its turn.
-- needs: hosts
local host, address, name, gap, most, patience, rests = unpack(ARGS)
local under_way, paces, reserved = ROOT .. 'at:' .. address, ROOT .. 'address:' .. address,
  ROOT .. 'reserved:' .. host
local function keep(key, text, till)
  call('SET', key, text, 'PX', math.ceil((till - NOW + patience) / 1000))
end
local free, last, due = 0, -gap, nil      -- next free turn, last turn, reserved turn
local known = call('GET', paces)
if known then
  free, last = string.match(known, '^(%d+) (-?%d+)$')
  if not free then corrupt(paces, 'no pace') end
  free, last = tonumber(free), tonumber(last)
end
local own = call('GET', reserved)
if own then
  local time, where = string.match(own, '^(%d+) (.*)$')
  if where == address then due = tonumber(time) end
end
if due and due > NOW then return math.ceil(due - NOW) end
call('ZREMRANGEBYSCORE', under_way, '-inf', num(NOW))
if (due or free <= NOW) and last + gap <= NOW and call('ZCARD', under_way) < most then
  call('DEL', reserved)
  free = math.max(free, NOW + gap)
  keep(paces, string.format('%.0f %.0f', free, NOW), free)
  call('ZADD', under_way, num(NOW + patience), name)
  call('PEXPIRE', under_way, math.ceil(patience / 1000))
  return 0
end
local turn_at = last + gap                -- for the case that the last one came late
if not due or turn_at <= NOW then
  turn_at = math.max(free, NOW + gap)
  free = turn_at + gap
  keep(paces, string.format('%.0f %.0f', free, last), free)
end
keep(reserved, string.format('%.0f %s', turn_at, address), turn_at)
if rests == 1 and turn_at > tonumber(call('HGET', REST, host) or 0) then
  call('HSET', REST, host, num(turn_at))
end
return math.ceil(turn_at - NOW)
