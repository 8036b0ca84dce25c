-- Release a claim.
-- ARGS: name, holder
local key = ROOT .. 'claim:' .. ARGS[1]
if call('GET', key) == ARGS[2] then call('DEL', key) end
return 1
