-- Claim a name for a time, or renew or end the holder's claim.
-- ARGS: name, holder, time (milliseconds; 0 ends the claim)
-- Returns 1 if the holder has it now, else 0.
local key = ROOT .. 'claim:' .. ARGS[1]
local holder = call('GET', key)
if holder and holder ~= ARGS[2] then return 0 end
if ARGS[3] == 0 then
  call('DEL', key)
  return 0
end
call('SET', key, ARGS[2], 'PX', ARGS[3])
return 1
