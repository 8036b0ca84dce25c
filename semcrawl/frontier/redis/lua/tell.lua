-- Tell all workers which links one has taken from another shard.
-- ARGS: incarnation of the worker, number of events kept, last event it read, links {queue, host, group,
-- member}
-- Returns the event's id, and 1 if there are other events between the last that was read and this one.
local read = ARGS[3]
local start = read == '-' and '-' or '(' .. read
local between = #call('XRANGE', ROOT .. 'events', start, '+', 'COUNT', '1')
local id = call('XADD', ROOT .. 'events', 'MAXLEN', '~', ARGS[2], '*', 'w', ARGS[1], 't',
  cmsgpack.pack(ARGS[4]))
return answer({id, between})
