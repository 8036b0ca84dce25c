-- Stamp new keys with the format's version and the crawl's options, or look at what they have.
-- ARGS: version (a text), size of the Bloom filter (blocks and hashes), options (msgpack map); of a
-- shard further fields of the key and their values in turn
-- Returns the version, when the keys were made, and the options; the number of shards (nil: one).
local kind = redis.call('TYPE', META).ok
if kind ~= 'none' and kind ~= 'hash' then corrupt(META, 'no hash') end
local found = call('HMGET', META, 'format', 'created', 'options', 'shards')
if found[1] then return found end
if kind == 'hash' then corrupt(META, 'no version stamp') end
local created = num(NOW / 1000000)
call('HSET', META, 'format', ARGS[1], 'created', created, 'bloom', ARGS[2], 'options', ARGS[3])
if ARGS[4] then call('HSET', META, unpack(ARGS[4])) end
return call('HMGET', META, 'format', 'created', 'options', 'shards')
