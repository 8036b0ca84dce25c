-- Forget pending seeds.
-- KEYS[2]: their list. ARGS: seeds
for _, seed in ipairs(ARGS[1]) do call('ZREM', ROOT .. 'pending:' .. KEYS[2], seed) end
return 1
