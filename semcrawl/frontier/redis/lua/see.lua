-- Mark digests as seen.
-- ARGS: digests
-- needs: seen
for _, digest in ipairs(ARGS[1]) do see(digest, '') end
seen_save()
return 1
