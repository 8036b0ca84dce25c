-- Count a fetch on a host; after too many consecutive barren ones the host rests (SWSE).
-- ARGS: host, whether the fetch gave a target (1 or 0)
-- needs: order
local host = ARGS[1]
local fetches, targets, barren = host_yield(host)
barren = ARGS[2] == 1 and 0 or barren + 1
if OPTIONS.penalty_after > 0 and barren >= OPTIONS.penalty_after then
  barren = 0
  call('HSET', REST, host, num(NOW + OPTIONS.penalty_time))
  cool(host, tonumber(call('ZSCORE', COOLING, host) or 0))
  file_availability(host)
end
call('HSET', YIELD, host, string.format('%.0f %.0f %.0f', fetches + 1, targets + ARGS[2], barren))
return 1
