-- Mark digests as seen.
-- ARGS: digests
for _, digest in ipairs(ARGS[1]) do see(digest, '') end
seen_save()
return 1
