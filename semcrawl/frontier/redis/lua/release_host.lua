-- End downloads, which frees their hosts' concurrency.
-- ARGS: lease ids
-- needs: leases
release_all(ARGS[1])
return 1
