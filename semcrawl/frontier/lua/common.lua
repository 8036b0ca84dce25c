-- What all scripts share; put in front of each of them. See keys.py for the key schema.
-- KEYS[1] is the crawl's meta key, "<root>meta"; every other key starts with the same root, and so
-- has the same hash tag. ARGV[1] holds the options (msgpack map), ARGV[2] the arguments, ARGV[3]
-- (if any) a slot and ARGV[4] a number that is new for each call but the same when a call is
-- repeated because its answer was lost: it then gets the answer it would have got.

local ROOT = string.sub(KEYS[1], 1, -5)
local META = KEYS[1]
local OPTIONS = cmsgpack.unpack(ARGV[1])
local ARGS = cmsgpack.unpack(ARGV[2])

-- Run a command; a key that holds something else than it should is named in the error.
local function call(command, key, ...)
  local reply = redis.pcall(command, key, ...)
  if type(reply) == 'table' and reply.err then
    error('FRONTIER-ERROR<' .. key .. '><' .. reply.err .. '>')
  end
  return reply
end

local function corrupt(key, why)
  error('FRONTIER-ERROR<' .. key .. '><CORRUPT ' .. why .. '>')
end

-- Numbers as Redis reads them back exactly.
local function num(x)
  if x == 0 then return '0' end
  return string.format('%.17g', x)
end

-- Server time in microseconds.
local function clock()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end
local NOW = clock()

local REPLIES = ROOT .. 'replies'
if ARGV[3] then
  local kept = call('HGET', REPLIES, ARGV[3])
  if kept and string.sub(kept, 1, #ARGV[4]) == ARGV[4] then
    return cmsgpack.unpack(string.sub(kept, #ARGV[4] + 1))
  end
end

-- Keep the reply of this call for a repetition of it.
local function answer(reply)
  if ARGV[3] then call('HSET', REPLIES, ARGV[3], ARGV[4] .. cmsgpack.pack(reply)) end
  return reply
end

local SEQ = 6                -- bytes of a sequence number
local PLACE = 8 + SEQ        -- bytes of a link's place: key, sequence number
local NO_TURN = '\0\0\0\0\0\0\0\0'

-- A double as 8 bytes that sort (by memcmp) as the numbers do.
local function sortable(x)
  if x == 0 then x = 0 end
  local b = struct.pack('>d', x)
  local first = string.byte(b, 1)
  if first < 128 then
    return string.char(first + 128) .. string.sub(b, 2)
  end
  local c = {string.byte(b, 1, 8)}
  for i = 1, 8 do c[i] = 255 - c[i] end
  return string.char(unpack(c))
end

local function sequence(n)
  return string.sub(struct.pack('>I8', n), 9 - SEQ)
end

-- Byte order; Lua's own "<" follows the server's locale.
local function before(a, b)
  local n = math.min(#a, #b)
  for i = 1, n do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

-- Keys of parts.
local function wait_key(queue, host, group) return ROOT .. 'wait:' .. queue .. ':' .. host .. '/' .. group end
local function local_key(queue, host) return ROOT .. 'local:' .. queue .. ':' .. host end
local function spread_key(queue, group) return ROOT .. 'spread:' .. queue .. ':' .. group end
local function place_key(queue, group) return ROOT .. 'place:' .. queue .. ':' .. group end
local function busy_key(host) return ROOT .. 'busy:' .. host end
local function parked_key(host) return ROOT .. 'parked:' .. host end
local COOLING = ROOT .. 'cooling'
local VALUES = ROOT .. 'values'
local PACE = ROOT .. 'pace'
local LEASE = ROOT .. 'lease'

local queues_known
local function all_queues()
  queues_known = queues_known or call('SMEMBERS', ROOT .. 'queues')
  return queues_known
end

-- ---- a waiting link's member: sequence number, tries, label, blob

local function member_label(member)
  local n = string.byte(member, SEQ + 2)
  return string.sub(member, SEQ + 3, SEQ + 2 + n)
end

local function make_member(seq, tries, label, blob)
  return seq .. string.char(math.min(tries, 255)) .. string.char(#label) .. label .. blob
end

local function member_tries(member) return string.byte(member, SEQ + 1) end

local function count(queue, label, n)
  local key = ROOT .. 'labels:' .. queue
  if call('HINCRBY', key, label, n) <= 0 then call('HDEL', key, label) end
end

local function count_host(queue, host, n)
  local key = ROOT .. 'hosts:' .. queue
  if call('HINCRBY', key, host, n) <= 0 then call('HDEL', key, host) end
end

-- ---- hosts: may they be asked?

-- Crawl delay (microseconds) and concurrency of a host.
local function pace(host)
  local p = call('HGET', PACE, host)
  if p then
    local delay, concurrency = string.match(p, '^(%d+) (%d+)$')
    if not delay then corrupt(PACE, 'no pace of ' .. host) end
    return tonumber(delay), tonumber(concurrency)
  end
  return OPTIONS.delay, OPTIONS.concurrency
end

local function available(host)
  local till = call('ZSCORE', COOLING, host)
  if till and tonumber(till) > NOW then return false end
  local busy = call('HLEN', busy_key(host))
  if busy == 0 then return true end
  local _, concurrency = pace(host)
  return busy < concurrency
end

-- Fairness among hosts of equal value: start-time fair queueing. A host's turn is the virtual time
-- at which it is served next; each take moves it on by 1 / weight.
local TURNS, YIELD, REST = ROOT .. 'turns', ROOT .. 'yield', ROOT .. 'rest'

local function turn_time(host)
  local own = tonumber(call('HGET', TURNS, host) or 0)
  return math.max(own, tonumber(call('HGET', META, 'turn') or 0))
end

local function turn(host)
  if OPTIONS.fairness == 'off' then return NO_TURN end
  return sortable(tonumber(call('HGET', TURNS, host) or call('HGET', META, 'turn') or 0))
end

local function host_yield(host)
  local y = call('HGET', YIELD, host)
  if not y then return 0, 0, 0 end
  local fetches, targets, barren = string.match(y, '^(%d+) (%d+) (%d+)$')
  if not fetches then corrupt(YIELD, 'no yield of ' .. host) end
  return tonumber(fetches), tonumber(targets), tonumber(barren)
end

-- A link of the host is taken: its next turn is later, the later the less it yields.
local function move_turn(host)
  if OPTIONS.fairness == 'off' then return end
  local t, weight = turn_time(host), 1
  if OPTIONS.fairness == 'yield' then
    local fetches, targets = host_yield(host)
    weight = (targets + 1) / (fetches + 2)
  end
  call('HSET', META, 'turn', num(t))
  call('HSET', TURNS, host, num(t + 1 / weight))
end

-- ---- order: which link is next?
-- Groups on one host only are ordered inside the host (local:), and the host stands in front: with
-- its best one. Groups on several hosts order their hosts (spread:), and stand in global: with the
-- first. A host that cannot be asked leaves front: at once, but a spread: only when it is met there
-- (it is then parked, and comes back when it may be asked): so neither many groups nor many hosts
-- cost anything.

local function value(group)
  return tonumber(call('HGET', VALUES, group) or 0)
end

-- Place of the first waiting link of a host's group: 14 bytes, or nil.
local function first_place(queue, host, group)
  local r = call('ZRANGE', wait_key(queue, host, group), 0, 0, 'WITHSCORES')
  if not r[1] then return nil end
  return sortable(tonumber(r[2])) .. string.sub(r[1], 1, SEQ)
end

-- Put the host where its best local group belongs.
local function file_host(queue, host, may_be_asked)
  local front, filed = ROOT .. 'front:' .. queue, ROOT .. 'filed:' .. queue
  local best = {}
  if may_be_asked == nil then may_be_asked = available(host) end
  if may_be_asked then
    best = call('ZRANGE', local_key(queue, host), 0, 0, 'WITHSCORES')
  end
  local old = call('HGET', filed, host)
  if best[1] then
    local place = turn(host) .. string.sub(best[1], 1, PLACE)
    if old ~= place then
      if old then call('ZREM', front, old .. host) end
      call('HSET', filed, host, place)
    end
    call('ZADD', front, best[2], place .. host)
  elseif old then
    call('ZREM', front, old .. host)
    call('HDEL', filed, host)
  end
end

-- Put a group that is on several hosts where its first host belongs.
local function file_group(queue, group)
  local groups, global = ROOT .. 'groups:' .. queue, ROOT .. 'global:' .. queue
  local head = call('ZRANGE', spread_key(queue, group), 0, 0)[1]
  local place = head and string.sub(head, 1, 8 + PLACE) or ''
  local old = string.sub(call('HGET', groups, group) or 'G', 2)
  if old ~= place then
    if old ~= '' then call('ZREM', global, old .. group) end
    call('HSET', groups, group, 'G' .. place)
    if place ~= '' then call('ZADD', global, num(-value(group)), place .. group) end
  end
end

local function file_spread(queue, host, group, place)
  local places = place_key(queue, group)
  local old = call('HGET', places, host)
  if place then
    if old == '' then return end
    place = turn(host) .. place
    if old == place then return end
    if old then call('ZREM', spread_key(queue, group), old .. host) end
    call('HSET', places, host, place)
    call('ZADD', spread_key(queue, group), 0, place .. host)
  elseif old then
    call('HDEL', places, host)
    if old == '' then
      call('SREM', parked_key(host), queue .. ':' .. group)
    else
      call('ZREM', spread_key(queue, group), old .. host)
    end
  end
  file_group(queue, group)
  if not place and call('EXISTS', places) == 0 then
    call('HDEL', ROOT .. 'groups:' .. queue, group)
    call('ZREM', ROOT .. 'order:' .. queue, group)
  end
end

-- Note that a host's group has got another first link, or none.
local function file_wait(queue, host, group)
  local groups = ROOT .. 'groups:' .. queue
  local place = first_place(queue, host, group)
  local info = call('HGET', groups, group)
  if not info then
    if not place then return end
    local v = value(group)
    call('HSET', groups, group, 'L' .. place .. host)
    call('ZADD', local_key(queue, host), num(-v), place .. group)
    call('ZADD', ROOT .. 'order:' .. queue, num(v), group)
    return file_host(queue, host)
  end
  if string.sub(info, 1, 1) == 'L' then
    local old, owner = string.sub(info, 2, 1 + PLACE), string.sub(info, 2 + PLACE)
    if owner == host then
      if place == old then return end
      call('ZREM', local_key(queue, host), old .. group)
      if place then
        call('HSET', groups, group, 'L' .. place .. host)
        call('ZADD', local_key(queue, host), num(-value(group)), place .. group)
      else
        call('HDEL', groups, group)
        call('ZREM', ROOT .. 'order:' .. queue, group)
      end
      return file_host(queue, host)
    end
    if not place then return end
    -- a second host: the group is global from now on
    call('ZREM', local_key(queue, owner), old .. group)
    file_host(queue, owner)
    call('HSET', groups, group, 'G')
    file_spread(queue, owner, group, old)
  end
  file_spread(queue, host, group, place)
end

-- Take a host that cannot be asked out of a global group, until it can.
local function park(queue, group, host)
  local places = place_key(queue, group)
  call('ZREM', spread_key(queue, group), call('HGET', places, host) .. host)
  call('HSET', places, host, '')
  call('SADD', parked_key(host), queue .. ':' .. group)
  file_group(queue, group)
end

-- Note that a host can or cannot be asked any more.
local function file_availability(host)
  local yes = available(host)
  for _, queue in ipairs(all_queues()) do file_host(queue, host, yes) end
  if not yes then return end
  local parked = call('SMEMBERS', parked_key(host))
  if #parked == 0 then return end
  call('DEL', parked_key(host))
  for _, name in ipairs(parked) do
    local queue, group = string.match(name, '^([^:]*):(.*)$')
    call('HDEL', place_key(queue, group), host)
    file_spread(queue, host, group, first_place(queue, host, group))
  end
end

-- Host may not be asked before a time (microseconds), nor before a penalty is over.
local function cool(host, till)
  local rest = call('HGET', REST, host)
  if rest then
    if tonumber(rest) > NOW then
      till = math.max(till, tonumber(rest))
    else
      call('HDEL', REST, host)
    end
  end
  if till > NOW then
    call('ZADD', COOLING, num(till), host)
  else
    call('ZREM', COOLING, host)
  end
end

-- ---- links go in and come back

local function put(queue, host, group, key, member)
  if call('ZADD', wait_key(queue, host, group), num(key), member) == 1 then
    count_host(queue, host, 1)
  end
  file_wait(queue, host, group)
end

-- Requests reach a host later than they start, some more and some less: so that no two arrive
-- closer than the delay, it counts from the end of a download where that ends this soon.
-- (A busy machine may take a quarter of a second between start and arrival.)
local function slack(delay)
  return math.max(delay / 10, 250000)
end

-- End a download under way. What busy: has of it: 0 = its start was never told and it held the host,
-- the delay counts from now; 1 = there is no delay; else the time of its start.
local function release(host, id)
  local flag = call('HGET', busy_key(host), id)
  if not flag then return end
  local was, delay = available(host), pace(host)
  call('HDEL', busy_key(host), id)
  if flag == '0' then
    cool(host, NOW + delay)
  elseif flag ~= '1' and delay > 0 then
    local till = math.min(NOW, tonumber(flag) + slack(delay)) + delay
    if till > tonumber(call('ZSCORE', COOLING, host) or 0) then cool(host, till) end
  end
  if was ~= available(host) then file_availability(host) end
end

-- A lease's record, or nil when it is void.
local function lease_record(id)
  local r = call('HGET', LEASE, id)
  if not r then return nil end
  local ok, record = pcall(cmsgpack.unpack, r)
  if not ok or type(record) ~= 'table' or #record ~= 6 then corrupt(LEASE, 'lease ' .. id) end
  return {queue = record[1], host = record[2], group = record[3], key = record[4],
          member = record[5], worker = record[6]}
end

local function forget_lease(id, record)
  call('HDEL', LEASE, id)
  call('ZREM', ROOT .. 'leases:' .. record.queue, id)
  release(record.host, id)
end

-- Put a leased link back into its place.
local function go_back(id, record)
  forget_lease(id, record)
  local m = record.member
  local tries = math.min(member_tries(m) + 1, 255)
  m = string.sub(m, 1, SEQ) .. string.char(tries) .. string.sub(m, SEQ + 2)
  count(record.queue, member_label(m), 1)
  put(record.queue, record.host, record.group, record.key, m)
end

-- Expired leases and due retries go back in; hosts whose delay is over may be asked again.
local function tick()
  local now = num(NOW)
  for _, queue in ipairs(all_queues()) do
    local expired = call('ZRANGEBYSCORE', ROOT .. 'leases:' .. queue, '-inf', now, 'LIMIT', 0, 100)
    for _, id in ipairs(expired) do
      local record = lease_record(id)
      if record then
        go_back(id, record)
        call('HINCRBY', META, 'expired', 1)
      else
        call('ZREM', ROOT .. 'leases:' .. queue, id)
      end
    end
    local delayed = ROOT .. 'delayed:' .. queue
    for _, id in ipairs(call('ZRANGEBYSCORE', delayed, '-inf', now, 'LIMIT', 0, 100)) do
      local record = lease_record(id)
      call('ZREM', delayed, id)
      if record then
        call('HDEL', LEASE, id)
        put(record.queue, record.host, record.group, record.key, record.member)
      end
    end
  end
  for _, host in ipairs(call('ZRANGEBYSCORE', COOLING, '-inf', now, 'LIMIT', 0, 200)) do
    call('ZREM', COOLING, host)
    file_availability(host)
  end
end

-- The queue, host and group of the best link that can be taken now, or nil.
local function best(queues)
  while true do
    local score, place, queue, id, key
    for _, q in ipairs(queues) do
      for _, k in ipairs({ROOT .. 'front:' .. q, ROOT .. 'global:' .. q}) do
        local r = call('ZRANGE', k, 0, 0, 'WITHSCORES')
        if r[1] then
          local s = tonumber(r[2])
          local p = string.sub(r[1], 1, 8 + PLACE)
          if not score or s < score or (s == score and before(p, place)) then
            score, place, queue, id, key = s, p, q, string.sub(r[1], 9 + PLACE), k
          end
        end
      end
    end
    if not score then return nil end
    if key == ROOT .. 'front:' .. queue then
      local head = call('ZRANGE', local_key(queue, id), 0, 0)[1]
      if not head then corrupt(local_key(queue, id), 'empty') end
      return queue, id, string.sub(head, 1 + PLACE)
    end
    local head = call('ZRANGE', spread_key(queue, id), 0, 0)[1]
    if not head then corrupt(spread_key(queue, id), 'empty') end
    local host = string.sub(head, 9 + PLACE)
    if not available(host) then
      park(queue, id, host)
    elseif string.sub(head, 1, 8) ~= turn(host) then
      file_spread(queue, host, id, string.sub(head, 9, 8 + PLACE))
    else
      return queue, host, id
    end
  end
end

-- ---- the seen set: a hash table of small hashes, grown bucket by bucket (linear hashing)
-- so that each stays in Redis's compact encoding. Field: digest; value: sequence number and key
-- under which the link waits (if it still does). Beyond exact_limit digests, those that come are
-- kept in a Bloom filter, and in the table (value with a mark at its end) only until they are done.

local BUCKET = 40            -- mean number of digests in a bucket

local function bucket_of(digest, buckets, level)
  local a, b, c, d = string.byte(digest, 1, 4)
  local h = a * 16777216 + b * 65536 + c * 256 + d
  local i = h % level
  if i < buckets - level then i = h % (level * 2) end
  return i
end

local seen_buckets, seen_level, seen_size, seen_bloom
local PASSING = '\1'        -- mark of a digest that the table does not keep

local function seen_key(digest)
  if not seen_buckets then
    local r = call('HMGET', META, 'buckets', 'seen', 'bloom')
    seen_bloom = r[3]
    seen_buckets, seen_size = tonumber(r[1] or 1), tonumber(r[2] or 0)
    seen_level = 1
    while seen_level * 2 <= seen_buckets do seen_level = seen_level * 2 end
  end
  return ROOT .. 'seen:' .. bucket_of(digest, seen_buckets, seen_level)
end

local function split_bucket()
  local from = seen_buckets - seen_level
  local source, target = ROOT .. 'seen:' .. from, ROOT .. 'seen:' .. seen_buckets
  local all, moved, gone = call('HGETALL', source), {}, {}
  seen_buckets = seen_buckets + 1
  for i = 1, #all, 2 do
    if bucket_of(all[i], seen_buckets, seen_level) ~= from then
      moved[#moved + 1], moved[#moved + 2] = all[i], all[i + 1]
      gone[#gone + 1] = all[i]
    end
  end
  if #gone > 0 then
    call('HDEL', source, unpack(gone))
    call('HSET', target, unpack(moved))
  end
  if seen_buckets == seen_level * 2 then seen_level = seen_buckets end
  call('HSET', META, 'buckets', seen_buckets)
end

-- Set a digest's bits in the Bloom filter; whether one of them was new. The filter is split into
-- strings of 2^20 bits, one of which has all bits of a digest.
local function bloom_add(digest)
  local blocks, hashes = string.match(seen_bloom, '^(%d+) (%d+)$')
  if not blocks then corrupt(META, 'no size of the Bloom filter') end
  local b = {string.byte(digest, 1, 10)}
  local key = ROOT .. 'bloom:' .. ((b[1] * 256 + b[2]) * 65536 + b[3] * 256 + b[4]) % blocks
  local bit = b[5] * 65536 + b[6] * 256 + b[7]
  local step = b[8] * 65536 + b[9] * 256 + b[10]
  if step % 2 == 0 then step = step + 1 end
  local new = false
  for _ = 1, tonumber(hashes) do
    bit = (bit + step) % 1048576
    if call('SETBIT', key, bit, 1) == 0 then new = true end
  end
  return new
end

-- Note a digest; whether it was new. Call seen_save() after the last one.
local function see(digest, where)
  local key = seen_key(digest)
  if seen_bloom and OPTIONS.exact_limit > 0 and seen_size >= OPTIONS.exact_limit then
    if call('HEXISTS', key, digest) == 1 or not bloom_add(digest) then return false end
    call('HINCRBY', META, 'bloomed', 1)
    if where == '' then return true end
    call('HINCRBY', META, 'passing', 1)
    call('HSET', key, digest, where .. PASSING)
  elseif call('HSETNX', key, digest, where) == 0 then
    return false
  end
  seen_size = seen_size + 1
  if seen_size > seen_buckets * BUCKET then split_bucket() end
  return true
end

-- Note where a link waits now.
local function seen_at(key, digest, where)
  local old = call('HGET', key, digest)
  if old and string.sub(old, SEQ + 9) == PASSING then where = where .. PASSING end
  call('HSET', key, digest, where)
end

-- A link is done: its digest leaves the table if the Bloom filter has it.
local function seen_done(digest)
  local key = seen_key(digest)
  local where = call('HGET', key, digest)
  if where and string.sub(where, SEQ + 9) == PASSING then
    call('HDEL', key, digest)
    call('HINCRBY', META, 'passing', -1)
    seen_size = seen_size - 1
  end
end

local function seen_save()
  if seen_size then call('HSET', META, 'seen', seen_size) end
end

-- The member of a sequence number among those of equal score: they are ordered by it.
local function find_member(key, seq, score)
  local low = call('ZCOUNT', key, '-inf', '(' .. score)
  local high = low + call('ZCOUNT', key, score, score) - 1
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local member = call('ZRANGE', key, middle, middle)[1]
    local s = string.sub(member, 1, SEQ)
    if s == seq then return member end
    if before(s, seq) then low = middle + 1 else high = middle - 1 end
  end
end

-- The member under which a link waits in a host's group, or nil.
local function waiting_member(wait, bucket, digest)
  local where = call('HGET', bucket, digest)
  if not where or where == '' then return nil end
  if #where ~= SEQ + 8 and #where ~= SEQ + 9 then corrupt(bucket, 'no place of a link') end
  local key = num((struct.unpack('>d', where, SEQ + 1)))
  return find_member(wait, string.sub(where, 1, SEQ), key)
end
