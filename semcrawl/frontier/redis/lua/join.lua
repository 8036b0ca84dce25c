-- Continue with the crawl's keys as a server has them now. Another run than the last one (a new primary,
-- a restarted server, another node of the slot) may lack the last writes, so an epoch begins. Lost lease
-- ids may be in use; none is given out a second time.
-- ARGS: run id of the server
-- Returns the creation time of the keys (nil if there are none), and their epoch.
local r = call('HMGET', META, 'created', 'server', 'epoch')
if r[1] and r[2] ~= ARGS[1] then
  if r[2] then
    r[3] = call('HINCRBY', META, 'epoch', '1')
    call('HINCRBY', META, 'takes', '1000000')
  end
  call('HSET', META, 'server', ARGS[1])
end
return {r[1] or false, tostring(r[3] or '')}
