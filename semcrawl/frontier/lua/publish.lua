-- Append events.
-- ARGS: incarnation of the worker, events, number of events kept, queue of the links they brought
local id
for _, event in ipairs(ARGS[2]) do
  id = call('XADD', ROOT .. 'events', 'MAXLEN', '~', ARGS[3], '*', 'w', ARGS[1], 'e', event,
    'q', ARGS[4])
end
return answer(id)
