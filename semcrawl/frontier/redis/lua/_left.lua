-- Links that were left out, each once: left: is a hash table with a fixed number of small hashes.
-- needs: seen

local LEFT_BUCKETS = 8192
local LEFT_HOSTS = ROOT .. 'lefthosts'
local LEFT_FIRST = ROOT .. 'leftfirst'

local function left_key(n) return ROOT .. 'left:' .. whole(n) end

-- Whether a digest is in the seen set.
local function is_seen(digest)
  return call('HEXISTS', seen_key(digest), digest) == 1 or (seen_bloom and bloom_has(digest)) or false
end
