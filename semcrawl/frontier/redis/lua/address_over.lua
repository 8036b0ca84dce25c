-- End a request to an address.
-- ARGS: address, name of the request
call('ZREM', ROOT .. 'at:' .. ARGS[1], ARGS[2])
return 1
