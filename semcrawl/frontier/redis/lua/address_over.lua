-- A request to an address is over.
-- ARGS: address, name of the request
call('ZREM', ROOT .. 'at:' .. ARGS[1], ARGS[2])
return 1
