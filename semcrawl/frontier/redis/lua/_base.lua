-- The common part of all scripts. See keys.py for the key schema. A script names the other parts
-- that it needs in its first lines ("-- needs: order, seen"); they go between this and the script.
-- KEYS[1] is the crawl's meta key, "<root>meta"; every other key starts with the same root, and so
-- has the same hash tag.
-- ARGV[1]: the arguments (msgpack). ARGV[2]: creation time of the keys that the worker opened, a
-- slash, and their epoch (see join.lua); empty before opening. ARGV[3] (if any): a slot for the
-- reply. ARGV[4]: a number that is new for each call, but the same when a call is repeated as its
-- answer was lost; the repetition gets the first answer.

local ROOT = string.sub(KEYS[1], 1, -5)
local META = KEYS[1]
local ARGS = cmsgpack.unpack(ARGV[1])

-- The crawl's options are stored with its keys, as all workers must agree on them.
local kept = redis.pcall('HMGET', META, 'options', 'created', 'dead', 'epoch')
-- Once some hosts were found dead, untried hosts come last.
local UNTRIED_LAST = tonumber(kept[3] or 0) > 1
local OPTIONS = kept[1] and cmsgpack.unpack(kept[1]) or {}
-- A worker's knowledge and leases belong to one crawl, and must not get into a later one.
if not kept.err and ARGV[2] ~= '' and ARGV[2] ~= (kept[2] or '') .. '/' .. (kept[4] or '') then
  local created = string.match(ARGV[2], '^[^/]*')
  error('FRONTIER-ERROR<' .. META .. '><' .. (created == kept[2] and 'EPOCH' or 'LOST') .. '>')
end

-- Run a command; the error for a key of the wrong type names the key.
-- Constant numbers are given as text, as Redis formats numbers with '%.17g', which takes as long as
-- a small command.
local try = redis.pcall
local function call(command, key, ...)
  local reply = try(command, key, ...)
  if type(reply) == 'table' and reply.err then
    error('FRONTIER-ERROR<' .. key .. '><' .. reply.err .. '>')
  end
  return reply
end

local function corrupt(key, why)
  error('FRONTIER-ERROR<' .. key .. '><CORRUPT ' .. why .. '>')
end

-- A number as text that Redis parses exactly.
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
  local reply = call('HGET', REPLIES, ARGV[3])
  if reply and string.sub(reply, 1, #ARGV[4]) == ARGV[4] then
    return cmsgpack.unpack(string.sub(reply, #ARGV[4] + 1))
  end
end

-- Store the reply of this call for its repetition, and return it.
local function answer(reply)
  if ARGV[3] then call('HSET', REPLIES, ARGV[3], ARGV[4] .. cmsgpack.pack(reply)) end
  return reply
end

local SEQ = 6                -- bytes of a sequence number
local PLACE = 8 + SEQ        -- bytes of a link's place: key, sequence number

-- A double as 8 bytes that sort (by memcmp) like the numbers.
local ZERO = '\128\0\0\0\0\0\0\0'
local function sortable(x)
  if x == 0 then return ZERO end
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
  return struct.pack('>I6', n)
end

-- The double in sortable bytes; further bytes are ignored.
local function unsortable(s)
  local first = string.byte(s, 1)
  if first >= 128 then
    return (struct.unpack('>d', string.char(first - 128) .. string.sub(s, 2, 8)))
  end
  local c = {string.byte(s, 1, 8)}
  for i = 1, 8 do c[i] = 255 - c[i] end
  return (struct.unpack('>d', string.char(unpack(c))))
end

-- Byte order; Lua's own "<" follows the server's locale.
local function before(a, b)
  local n, i = math.min(#a, #b), 1
  while i + 3 <= n do
    local x, y = struct.unpack('>I4', a, i), struct.unpack('>I4', b, i)
    if x ~= y then return x < y end
    i = i + 4
  end
  while i <= n do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
    i = i + 1
  end
  return #a < #b
end

-- Keys of parts.
local function wait_key(queue, host, group) return ROOT .. 'wait:' .. queue .. ':' .. host .. '/' .. group end
local function more_key(queue, host, group) return ROOT .. 'more:' .. queue .. ':' .. host .. '/' .. group end
local function chunk_key(entry) return ROOT .. 'chunk:' .. string.sub(entry, 1 + PLACE) end
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

-- ---- a waiting link's member: sequence number, tries, label, blob, and the number of a lost take

local function member_label(member)
  local n = string.byte(member, SEQ + 2)
  return string.sub(member, SEQ + 3, SEQ + 2 + n)
end

local TRIES, LOST = 127, 128  -- most counted tries; mark of a lost take

-- The part of a member between its sequence number and its blob.
local function member_head(tries, label)
  return string.char(math.min(tries, TRIES), #label) .. label
end

local function make_member(seq, tries, label, blob)
  return seq .. member_head(tries, label) .. blob
end

local function member_tries(member) return string.byte(member, SEQ + 1) % LOST end

-- The member of a link whose take number n was never acknowledged, so that its results may have been
-- written. The first such number stays with the link until a take is acknowledged.
local function lost_member(member, n)
  local byte = string.byte(member, SEQ + 1)
  local rest = string.sub(member, SEQ + 2)
  if byte < LOST then rest = rest .. sequence(n) end
  return string.sub(member, 1, SEQ) .. string.char(math.min(byte % LOST + 1, TRIES) + LOST) .. rest
end

-- The member of a link that was never taken.
local function fresh_member(member)
  local last = string.byte(member, SEQ + 1) < LOST and -1 or -1 - SEQ
  return string.sub(member, 1, SEQ) .. '\0' .. string.sub(member, SEQ + 2, last)
end

local function count(queue, label, n)
  local key = ROOT .. 'labels:' .. queue
  if call('HINCRBY', key, label, n) <= 0 then call('HDEL', key, label) end
end

local function count_host(queue, host, n)
  local key = ROOT .. 'hosts:' .. queue
  if call('HINCRBY', key, host, n) <= 0 then call('HDEL', key, host) end
end
