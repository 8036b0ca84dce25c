-- Look up what is kept under a name.
-- ARGS: name
-- Returns it, or nil.
return call('HGET', ROOT .. 'state', ARGS[1]) or call('GET', ROOT .. 'kept:' .. ARGS[1])
