-- Stamp new keys with the format's version, or return the version found.
-- ARGS: version (a text), size of the Bloom filter (blocks and hashes)
local kind = redis.call('TYPE', META).ok
if kind ~= 'none' and kind ~= 'hash' then corrupt(META, 'no hash') end
local found = call('HGET', META, 'format')
if found then return found end
if kind == 'hash' then corrupt(META, 'no version stamp') end
call('HSET', META, 'format', ARGS[1], 'created', num(NOW / 1000000), 'bloom', ARGS[2])
return ARGS[1]
