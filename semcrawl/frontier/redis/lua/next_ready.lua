-- The time until a take may give a link.
-- ARGS: queues, poll time (microseconds)
-- Returns microseconds, or nil if no link waits.
-- needs: ready
tick()
if best(ARGS[1]) then return 0 end
return wait_for(ARGS[1], ARGS[2])
