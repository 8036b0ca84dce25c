-- These downloads are over; their hosts may be asked again.
-- ARGS: lease ids
-- needs: leases
release_all(ARGS[1])
return 1
