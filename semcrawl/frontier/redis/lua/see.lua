-- Add digests to the seen set.
-- ARGS: digests
-- needs: seen
for _, digest in ipairs(ARGS[1]) do see(digest, '') end
seen_save()
return 1
