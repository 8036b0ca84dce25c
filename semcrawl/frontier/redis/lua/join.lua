-- Go on with the crawl's keys as a server has them now. Another server than the one that had them last (a
-- replica that took over, one that was started again, another node that the slot moved to) may lack what
-- was written last: an epoch begins. No name of a lease is given out a second time: of those that were
-- lost some may be in use.
-- ARGS: name of the server's run
-- Returns when the keys were made (nil if there are none), and their epoch.
local r = call('HMGET', META, 'created', 'server', 'epoch')
if r[1] and r[2] ~= ARGS[1] then
  if r[2] then
    r[3] = call('HINCRBY', META, 'epoch', '1')
    call('HINCRBY', META, 'takes', '1000000')
  end
  call('HSET', META, 'server', ARGS[1])
end
return {r[1] or false, tostring(r[3] or '')}
