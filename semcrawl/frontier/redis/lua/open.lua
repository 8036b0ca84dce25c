-- Stamp new keys with the format's version and the crawl's options, or look at what they have.
-- ARGS: version (a text), size of the Bloom filter (blocks and hashes), options (msgpack map)
-- Returns the version, when the keys were made, and the options.
local kind = redis.call('TYPE', META).ok
if kind ~= 'none' and kind ~= 'hash' then corrupt(META, 'no hash') end
local found = call('HMGET', META, 'format', 'created', 'options')
if found[1] then return found end
if kind == 'hash' then corrupt(META, 'no version stamp') end
local created = num(NOW / 1000000)
call('HSET', META, 'format', ARGS[1], 'created', created, 'bloom', ARGS[2], 'options', ARGS[3])
return {ARGS[1], created, ARGS[3]}
