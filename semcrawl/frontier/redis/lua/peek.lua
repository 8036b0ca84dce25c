-- Look at the best link that can be taken now.
-- ARGS: queues
-- Returns its standing, or false.
-- needs: leases
tick()
local _, _, _, score, place = best(ARGS[1])
return score and standing(score, place)
