-- Stamp new keys with the format's version, or look at the stamp.
-- ARGS: version (a text), size of the Bloom filter (blocks and hashes)
-- Returns the version, and when the keys were made.
local kind = redis.call('TYPE', META).ok
if kind ~= 'none' and kind ~= 'hash' then corrupt(META, 'no hash') end
local found = call('HGET', META, 'format')
if found then return {found, call('HGET', META, 'created')} end
if kind == 'hash' then corrupt(META, 'no version stamp') end
local created = num(NOW / 1000000)
call('HSET', META, 'format', ARGS[1], 'created', created, 'bloom', ARGS[2])
return {ARGS[1], created}
