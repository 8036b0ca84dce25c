-- Publish links that a worker took from another shard.
-- ARGS: incarnation of the worker, number of events to keep, last event it read, links {queue, host,
-- group, member}
-- Returns the event's id, and 1 if other events lie between the last read one and this one.
local read = ARGS[3]
local start = read == '-' and '-' or '(' .. read
local between = #call('XRANGE', ROOT .. 'events', start, '+', 'COUNT', '1')
local id = call('XADD', ROOT .. 'events', 'MAXLEN', '~', ARGS[2], '*', 'w', ARGS[1], 't',
  cmsgpack.pack(ARGS[4]))
return answer({id, between})
