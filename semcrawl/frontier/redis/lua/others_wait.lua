-- Whether links wait on hosts of other pay-level domains than these.
-- ARGS: domains
-- needs: domains
return others_wait(ARGS[1]) and 1 or 0
