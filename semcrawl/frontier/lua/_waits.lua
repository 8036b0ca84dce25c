-- Waiting links of a host's group, in their order, cut into chunks: so the cost of a link hardly
-- depends on how many wait. Each chunk is a list, which Redis keeps packed, whatever its settings.
-- Its elements are the links' keys as 8 sortable bytes and their members, so that they sort (by
-- memcmp) as the links do. wait: is the first chunk; more: has the others, each by the least place
-- that it may hold, and its number.

local CHUNK = OPTIONS.chunk or corrupt(META, 'no options of the crawl')  -- most links in a chunk

local function element_of(key, member) return sortable(key) .. member end
local function place_of(element) return string.sub(element, 1, PLACE) end
local function member_of(element) return string.sub(element, 9) end

-- The chunk in which a place belongs, and its entry in more: (nil for the first chunk).
local function chunk_of(queue, host, group, place)
  local upto = '[' .. place .. '\255'
  local entry = call('ZREVRANGEBYLEX', more_key(queue, host, group), upto, '-', 'LIMIT', '0', '1')[1]
  return entry and chunk_key(entry) or wait_key(queue, host, group), entry
end

-- The last entry of a more:, or nil. (From its end, as Redis walks there from the beginning.)
local function last_entry(more) return call('ZREVRANGE', more, '0', '0')[1] end

-- Index of the first element of a chunk that is not before this one, and the element there.
local function seek(chunk, size, element)
  local low, high, there = 0, size, nil
  while low < high do
    local middle = math.floor((low + high) / 2)
    local found = call('LINDEX', chunk, middle)
    if before(found, element) then
      low = middle + 1
    else
      high, there = middle, found
    end
  end
  return low, there
end

-- Push elements behind those of a chunk; return how many it has then.
local function push(chunk, elements, from, upto)
  return call('RPUSH', chunk, unpack(elements, from, upto))
end

-- Put sorted elements into chunks of their own, so many in each.
local function add_chunks(queue, host, group, elements, from, size)
  while from <= #elements do
    local upto = math.min(from + size - 1, #elements)
    local number = call('HINCRBY', META, 'chunks', '1')
    local entry = place_of(elements[from]) .. string.format('%.0f', number)
    push(chunk_key(entry), elements, from, upto)
    call('ZADD', more_key(queue, host, group), '0', entry)
    from = upto + 1
  end
end

-- Put an element where it belongs in a chunk of so many; return how many were not there.
local function add_to(chunk, size, element)
  local _, there = seek(chunk, size, element)
  if there == element then return 0 end
  if there then
    call('LINSERT', chunk, 'BEFORE', there, element)
  else
    call('RPUSH', chunk, element)
  end
  return 1
end

-- Put sorted elements into the chunk in which they belong; return how many were not there.
local function fill(queue, host, group, chunk, elements)
  local size, added = call('LLEN', chunk), 0
  if size + #elements <= CHUNK then
    for _, element in ipairs(elements) do
      added = added + add_to(chunk, size + added, element)
    end
    return added
  end
  local old, all, i, j = call('LRANGE', chunk, '0', '-1'), {}, 1, 1
  while i <= #old or j <= #elements do
    if j > #elements or (i <= #old and before(old[i], elements[j])) then
      all[#all + 1], i = old[i], i + 1
    else
      if old[i] == elements[j] then i = i + 1 end
      all[#all + 1], j = elements[j], j + 1
    end
  end
  local each = math.ceil(#all / math.ceil(#all / CHUNK))
  call('DEL', chunk)
  push(chunk, all, 1, math.min(each, #all))
  add_chunks(queue, host, group, all, each + 1, each)
  return #all - #old
end

-- Put elements in; return how many did not wait there, and whether the first one is another now.
local function insert(queue, host, group, elements)
  for i = 2, #elements do
    if before(elements[i], elements[i - 1]) then
      table.sort(elements, before)
      break
    end
  end
  -- most often they come last
  local more, from, added = more_key(queue, host, group), 1, 0
  local entry = last_entry(more)
  local tail = entry and chunk_key(entry) or wait_key(queue, host, group)
  local last = call('LINDEX', tail, '-1')
  if not last or before(last, elements[1]) then
    local pushed = math.min(#elements, CHUNK)
    local surplus = math.min(push(tail, elements, 1, pushed) - CHUNK, pushed)
    if surplus > 0 then call('RPOP', tail, surplus) end
    add_chunks(queue, host, group, elements, pushed - math.max(surplus, 0) + 1, CHUNK)
    return #elements, not last
  end
  while from <= #elements do
    local place = place_of(elements[from])
    local chunk, part = chunk_of(queue, host, group, place), elements
    if #elements > 1 then
      local bound = call('ZRANGEBYLEX', more, '(' .. place .. '\255', '+', 'LIMIT', '0', '1')[1]
      bound = bound and string.sub(bound, 1, PLACE)
      part = {elements[from]}
      for i = from + 1, #elements do
        if bound and not before(place_of(elements[i]), bound) then break end
        part[#part + 1] = elements[i]
      end
    end
    added = added + fill(queue, host, group, chunk, part)
    from = from + #part
  end
  return added, true
end

-- Find the element that has a place: it, its chunk, that one's entry, its index and the chunk's
-- size; or nil.
local function find(queue, host, group, place)
  local chunk, entry = chunk_of(queue, host, group, place)
  local size = call('LLEN', chunk)
  local at, element = seek(chunk, size, place)
  if element and place_of(element) == place then return element, chunk, entry, at, size end
end

-- Take an element out of its chunk.
local function remove(queue, host, group, chunk, entry, element)
  call('LREM', chunk, '1', element)
  if entry and call('EXISTS', chunk) == 0 then call('ZREM', more_key(queue, host, group), entry) end
end

-- Take up to n links from the end; return their elements.
local function pop_last(queue, host, group, n)
  local more = more_key(queue, host, group)
  local entry = last_entry(more)
  local chunk = entry and chunk_key(entry) or wait_key(queue, host, group)
  local gone = call('RPOP', chunk, n) or {}
  if entry and call('EXISTS', chunk) == 0 then call('ZREM', more, entry) end
  return gone
end

-- Place of the first waiting link of a host's group: 14 bytes, or nil. When the first chunk has
-- become empty, the next one takes its name.
local function first_place(queue, host, group)
  local wait = wait_key(queue, host, group)
  local first = call('LINDEX', wait, '0')
  if not first then
    local more = more_key(queue, host, group)
    local entry = call('ZRANGE', more, '0', '0')[1]
    if not entry then return nil end
    if call('LLEN', chunk_key(entry)) == 0 then corrupt(chunk_key(entry), 'no waiting links') end
    call('RENAME', chunk_key(entry), wait)
    call('ZREM', more, entry)
    first = call('LINDEX', wait, '0')
  end
  if #first < PLACE then corrupt(wait, 'an entry that is no link') end
  return place_of(first)
end
