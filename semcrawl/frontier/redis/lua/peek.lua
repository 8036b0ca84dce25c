-- Return views of a shard's best links.
-- ARGS: lists of queues, poll time (microseconds), ids of leases whose downloads are over
-- Returns a view (see _ready.lua) for each list.
-- needs: ready
release_all(ARGS[3])
tick()
local views = {}
for i, queues in ipairs(ARGS[1]) do views[i] = view(queues, ARGS[2]) end
return views
