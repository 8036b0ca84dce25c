-- Waiting links of a host's group, in their order, cut into chunks that Redis keeps packed: so the
-- cost of a link hardly depends on how many wait. wait: is the first chunk; more: has the others,
-- each by the least place that it may hold, and its number.

local CHUNK = 64             -- most links in a chunk; see zset-max-ziplist-entries in embedded.py

local function place_of(key, member) return sortable(key) .. string.sub(member, 1, SEQ) end

-- The chunk in which a place belongs, and its entry in more: (nil for the first chunk).
local function chunk_of(queue, host, group, place)
  local upto = '[' .. place .. '\255'
  local entry = call('ZREVRANGEBYLEX', more_key(queue, host, group), upto, '-', 'LIMIT', 0, 1)[1]
  return entry and chunk_key(entry) or wait_key(queue, host, group), entry
end

local function add_to(chunk, links, from, upto)
  local flat = {}
  for i = from, upto do
    flat[#flat + 1] = num(links[i][1])
    flat[#flat + 1] = links[i][2]
  end
  return call('ZADD', chunk, unpack(flat))
end

-- Put sorted links into chunks of their own, so many in each.
local function add_chunks(queue, host, group, links, from, size)
  while from <= #links do
    local upto = math.min(from + size - 1, #links)
    local number = call('HINCRBY', META, 'chunks', 1)
    local entry = place_of(links[from][1], links[from][2]) .. string.format('%.0f', number)
    add_to(chunk_key(entry), links, from, upto)
    call('ZADD', more_key(queue, host, group), 0, entry)
    from = upto + 1
  end
end

local function in_order(a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  return before(a[2], b[2])
end

-- Put sorted links into the chunk in which they belong; return how many were not there.
local function fill(queue, host, group, chunk, links)
  local size = call('ZCARD', chunk)
  if size + #links <= CHUNK then return add_to(chunk, links, 1, #links) end
  local last = call('ZRANGE', chunk, -1, -1, 'WITHSCORES')
  if size == 0 or in_order({tonumber(last[2]), last[1]}, links[1]) then
    local fits = CHUNK - size
    if fits > 0 then add_to(chunk, links, 1, fits) end
    add_chunks(queue, host, group, links, fits + 1, CHUNK)
    return #links
  end
  local all, old = {}, {}
  local flat = call('ZRANGE', chunk, 0, -1, 'WITHSCORES')
  for i = 1, #flat, 2 do
    all[#all + 1] = {tonumber(flat[i + 1]), flat[i]}
    old[flat[i]] = true
  end
  for _, link in ipairs(links) do
    if not old[link[2]] then all[#all + 1] = link end
  end
  table.sort(all, in_order)
  local pieces = math.ceil(#all / CHUNK)
  if pieces == 1 then pieces = 2 end
  local each = math.ceil(#all / pieces)
  call('DEL', chunk)
  add_to(chunk, all, 1, math.min(each, #all))
  add_chunks(queue, host, group, all, each + 1, each)
  return #all - size
end

-- Put links {key, member} in; return how many did not wait there.
local function insert(queue, host, group, links)
  if #links > 1 then table.sort(links, in_order) end
  local more, added, from = more_key(queue, host, group), 0, 1
  while from <= #links do
    local place = place_of(links[from][1], links[from][2])
    local chunk, entry = chunk_of(queue, host, group, place)
    local part = links
    if from > 1 or #links > 1 then
      local after = '(' .. place .. '\255'
      local bound = call('ZRANGEBYLEX', more, after, '+', 'LIMIT', 0, 1)[1]
      bound = bound and string.sub(bound, 1, PLACE)
      if from > 1 or bound then
        part = {links[from]}
        for i = from + 1, #links do
          if bound and not before(place_of(links[i][1], links[i][2]), bound) then break end
          part[#part + 1] = links[i]
        end
      end
    end
    added = added + fill(queue, host, group, chunk, part)
    from = from + #part
  end
  return added
end

-- Take a member out of its chunk.
local function remove(queue, host, group, chunk, entry, member)
  call('ZREM', chunk, member)
  if entry and call('EXISTS', chunk) == 0 then call('ZREM', more_key(queue, host, group), entry) end
end

-- Take up to n links from the end; return their members.
local function pop_last(queue, host, group, n)
  local more = more_key(queue, host, group)
  local entry = call('ZRANGE', more, -1, -1)[1]
  local chunk = entry and chunk_key(entry) or wait_key(queue, host, group)
  local gone, members = call('ZPOPMAX', chunk, n), {}
  for i = 1, #gone, 2 do members[#members + 1] = gone[i] end
  if entry and call('EXISTS', chunk) == 0 then call('ZREM', more, entry) end
  return members
end

-- Place of the first waiting link of a host's group: 14 bytes, or nil. When the first chunk has
-- become empty, the next one takes its name.
local function first_place(queue, host, group)
  local wait = wait_key(queue, host, group)
  local r = call('ZRANGE', wait, 0, 0, 'WITHSCORES')
  if not r[1] then
    local more = more_key(queue, host, group)
    local entry = call('ZRANGE', more, 0, 0)[1]
    if not entry then return nil end
    call('RENAME', chunk_key(entry), wait)
    call('ZREM', more, entry)
    r = call('ZRANGE', wait, 0, 0, 'WITHSCORES')
    if not r[1] then corrupt(wait, 'empty') end
  end
  return place_of(tonumber(r[2]), r[1])
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
