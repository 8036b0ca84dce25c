-- Append an event.
-- ARGS: incarnation of the worker, event, number of events kept
local id = call('XADD', ROOT .. 'events', 'MAXLEN', '~', ARGS[3], '*', 'w', ARGS[1], 'e', ARGS[2])
return answer(id)
