-- The seen set: a hash table of small hashes, which grows bucket by bucket (linear hashing) so that
-- each stays in Redis's compact encoding. Field: digest; value: sequence number and key of the waiting
-- link. Beyond exact_limit digests, new ones go into a Bloom filter, and into the table (with a mark at
-- the value's end) only until they are done.
-- needs: waits

local BUCKET = 24            -- mean number of digests in a bucket

local function hash(digest)
  return (struct.unpack('>I4', digest))
end

-- An integer as text; Lua's own conversion with '%.14g' is slower.
local function whole(n) return string.format('%d', n) end

local SEEN = string.gsub(ROOT, '%%', '%%%%') .. 'seen:%d'
local function bucket_key(n) return string.format(SEEN, n) end

local seen_buckets, seen_level, seen_size, seen_bloom
local PASSING = '\1'        -- mark of a digest that leaves the table when its link is done

local function seen_key(digest)
  if not seen_buckets then
    local r = call('HMGET', META, 'buckets', 'seen', 'bloom')
    seen_bloom = r[3]
    seen_buckets, seen_size = tonumber(r[1] or 1), tonumber(r[2] or 0)
    seen_level = 1
    while seen_level * 2 <= seen_buckets do seen_level = seen_level * 2 end
  end
  local h = hash(digest)
  local i = h % seen_level
  if i < seen_buckets - seen_level then i = h % (seen_level * 2) end
  return bucket_key(i)
end

local function split_bucket()
  local from = seen_buckets - seen_level
  local source, target = bucket_key(from), bucket_key(seen_buckets)
  local staying, moving = {}, {}
  for _, digest in ipairs(call('HKEYS', source)) do
    if hash(digest) % (seen_level * 2) == from then
      staying[#staying + 1] = digest
    else
      moving[#moving + 1] = digest
    end
  end
  -- Copy the bucket, and delete from each what the other has: so Lua need not hold the values.
  if #moving > 0 then
    if call('COPY', source, target) == 0 then corrupt(target, 'there before its time') end
    call('HDEL', source, unpack(moving))
    if #staying > 0 then call('HDEL', target, unpack(staying)) end
  end
  seen_buckets = seen_buckets + 1
  if seen_buckets == seen_level * 2 then seen_level = seen_buckets end
  call('HSET', META, 'buckets', whole(seen_buckets))
end

-- The key of the Bloom filter's string with a digest's bits, and the bits. The filter is split into
-- strings of 2^20 bits; all bits of a digest are in one of them.
local function bloom_bits(digest)
  local blocks, hashes = string.match(seen_bloom, '^(%d+) (%d+)$')
  if not blocks then corrupt(META, 'no size of the Bloom filter') end
  local b = {string.byte(digest, 1, 10)}
  local key = ROOT .. 'bloom:' .. ((b[1] * 256 + b[2]) * 65536 + b[3] * 256 + b[4]) % blocks
  local bit = b[5] * 65536 + b[6] * 256 + b[7]
  local step = b[8] * 65536 + b[9] * 256 + b[10]
  if step % 2 == 0 then step = step + 1 end
  local bits = {}
  for i = 1, tonumber(hashes) do
    bit = (bit + step) % 1048576
    bits[i] = bit
  end
  return key, bits
end

-- Set a digest's bits in the Bloom filter; return whether one of them was new.
local function bloom_add(digest)
  local key, bits = bloom_bits(digest)
  local new = false
  for _, bit in ipairs(bits) do
    if call('SETBIT', key, bit, 1) == 0 then new = true end
  end
  return new
end

-- Whether the Bloom filter has a digest.
local function bloom_has(digest)
  local key, bits = bloom_bits(digest)
  for _, bit in ipairs(bits) do
    if call('GETBIT', key, bit) == 0 then return false end
  end
  return true
end

-- Add a digest; return whether it was new. Call seen_save() after the last one.
local function see(digest, where)
  local key = seen_key(digest)
  if seen_bloom and OPTIONS.exact_limit > 0 and seen_size >= OPTIONS.exact_limit then
    if call('HEXISTS', key, digest) == 1 or not bloom_add(digest) then return false end
    call('HINCRBY', META, 'bloomed', '1')
    if where == '' then return true end
    call('HINCRBY', META, 'passing', '1')
    call('HSET', key, digest, where .. PASSING)
  elseif call('HSETNX', key, digest, where) == 0 then
    return false
  end
  seen_size = seen_size + 1
  if seen_size > seen_buckets * BUCKET then split_bucket() end
  return true
end

-- Store where a link waits now.
local function seen_at(key, digest, where)
  local old = call('HGET', key, digest)
  if old and string.sub(old, SEQ + 9) == PASSING then where = where .. PASSING end
  call('HSET', key, digest, where)
end

-- Remove the digest of a finished link from the table if the Bloom filter has it.
local function seen_done(digest)
  local key = seen_key(digest)
  local where = call('HGET', key, digest)
  if where and string.sub(where, SEQ + 9) == PASSING then
    call('HDEL', key, digest)
    call('HINCRBY', META, 'passing', '-1')
    seen_size = seen_size - 1
  end
end

local function seen_save()
  if seen_size then call('HSET', META, 'seen', whole(seen_size)) end
end

-- The element of a link that waits in a host's group, and its location as find() returns it; or nil.
local function find_waiting(queue, host, group, bucket, digest)
  local where = call('HGET', bucket, digest)
  if not where or where == '' then return nil end
  if #where ~= SEQ + 8 and #where ~= SEQ + 9 then corrupt(bucket, 'no place of a link') end
  local seq, key = string.sub(where, 1, SEQ), (struct.unpack('>d', where, SEQ + 1))
  return find(queue, host, group, sortable(key) .. seq)
end
