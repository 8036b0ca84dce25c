-- Append events.
-- ARGS: incarnation of the worker, events, number of events to keep, queue of their new links, and to
-- read on as well: last event that the worker read (or false), most events to return
-- Returns the last event's id. If it reads on and is not a repetition: the events between the last read
-- one and these, in the form of XRANGE, and the ids of these.
-- All but the last of these events have a mark that more follow (m).
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
