-- End an errand.
-- ARGS: host, errand, worker, whether nothing was sent (1 or 0)
-- needs: leases
end_errand(ARGS[1], ARGS[2], ARGS[3], ARGS[4] == 1)
return 1
