-- Keep something under a name, instead of what was there.
-- ARGS: name, content, time (milliseconds; 0 = for good)
local lasting, expiring = ROOT .. 'state', ROOT .. 'kept:' .. ARGS[1]
if ARGS[3] > 0 then
  call('SET', expiring, ARGS[2], 'PX', ARGS[3])
  call('HDEL', lasting, ARGS[1])
else
  call('HSET', lasting, ARGS[1], ARGS[2])
  call('DEL', expiring)
end
return 1
