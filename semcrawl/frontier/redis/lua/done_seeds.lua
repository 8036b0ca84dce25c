-- Forget pending seeds.
-- KEYS[2]: their list. ARGS: seeds, worker that took them
-- needs: seeds
for _, seed in ipairs(ARGS[1]) do
  call('ZREM', pending_key(KEYS[2]), pending_member(ARGS[2], seed))
end
return 1
