-- Append events.
-- ARGS: incarnation of the worker, events, number of events kept
local id
for _, event in ipairs(ARGS[2]) do
  id = call('XADD', ROOT .. 'events', 'MAXLEN', '~', ARGS[3], '*', 'w', ARGS[1], 'e', event)
end
return answer(id)
