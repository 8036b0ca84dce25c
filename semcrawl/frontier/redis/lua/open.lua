-- Stamp new keys with the format's version and the crawl's options, or read the stamp.
-- ARGS: version (a text), size of the Bloom filter (blocks and hashes), options (msgpack map); for a
-- shard a flat list of further fields and values
-- Returns the version, the creation time, the options, and the number of shards (nil: one).
local kind = redis.call('TYPE', META).ok
if kind ~= 'none' and kind ~= 'hash' then corrupt(META, 'no hash') end
local found = call('HMGET', META, 'format', 'created', 'options', 'shards')
if found[1] then return found end
if kind == 'hash' then corrupt(META, 'no version stamp') end
local created = num(NOW / 1000000)
call('HSET', META, 'format', ARGS[1], 'created', created, 'bloom', ARGS[2], 'options', ARGS[3])
if ARGS[4] then call('HSET', META, unpack(ARGS[4])) end
return call('HMGET', META, 'format', 'created', 'options', 'shards')
