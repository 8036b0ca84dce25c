-- Return the reason and host of a link that was left out, or nil.
-- ARGS: digest
-- needs: left
return call('HGET', left_key(hash(ARGS[1]) % LEFT_BUCKETS), ARGS[1]) or nil
