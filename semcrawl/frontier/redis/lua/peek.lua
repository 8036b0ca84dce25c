-- Return views of a shard's best links.
-- ARGS: lists of queues, poll time (microseconds)
-- Returns a view (see _ready.lua) for each list.
-- needs: ready
tick()
local views = {}
for i, queues in ipairs(ARGS[1]) do views[i] = view(queues, ARGS[2]) end
return views
