-- Append events.
-- ARGS: incarnation of the worker, events, number of events kept, queue of the links they brought,
-- and to read on at once: last event that the worker read (or false), most events to return
-- Returns the last event's id; or what there is between the last that was read and these, as XRANGE
-- does, and the ids of these, unless the call is repeated.
-- Of events told together all but the last are marked: more follow (m).
local ids = {}
for number, event in ipairs(ARGS[2]) do
  ids[number] = call('XADD', ROOT .. 'events', 'MAXLEN', '~', ARGS[3], '*', 'w', ARGS[1], 'e', event,
    'q', ARGS[4], 'm', number < #ARGS[2] and '1' or '')
end
answer(ids[#ids])
if not ARGS[5] then return ids[#ids] end
local start = ARGS[5] == '-' and '-' or '(' .. ARGS[5]
local stop = ids[1] and '(' .. ids[1] or '+'
return {call('XRANGE', ROOT .. 'events', start, stop, 'COUNT', ARGS[6]), ids}
