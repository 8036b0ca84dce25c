-- The waiting links of a host's group, in order, in chunks, so that the cost of a link hardly depends
-- on how many wait. Each chunk is a list, which Redis keeps packed, whatever its settings. Its
-- elements are the links' keys as 8 sortable bytes and their members, so they sort (by memcmp) like
-- the links. wait: is the last chunk. Most links are added at the end, and so need no lookup. more:
-- has the earlier chunks, each by its greatest possible place and its number.

local CHUNK = OPTIONS.chunk or corrupt(META, 'no options of the crawl')  -- most links in a chunk

local function element_of(key, member) return sortable(key) .. member end
local function place_of(element) return string.sub(element, 1, PLACE) end
local function member_of(element) return string.sub(element, 9) end

-- The chunk of a place, and its entry in more: (nil for the last chunk).
local function chunk_of(queue, host, group, place)
  local from = '[' .. place
  local entry = call('ZRANGEBYLEX', more_key(queue, host, group), from, '+', 'LIMIT', '0', '1')[1]
  return entry and chunk_key(entry) or wait_key(queue, host, group), entry
end

-- The first chunk, and its entry in more: (nil if it is also the last chunk).
local function first_chunk(queue, host, group)
  local entry = call('ZRANGE', more_key(queue, host, group), '0', '0')[1]
  return entry and chunk_key(entry) or wait_key(queue, host, group), entry
end

-- Enter a chunk with a greatest place into more:; return its key.
local function enter(queue, host, group, place)
  local entry = place .. string.format('%.0f', call('HINCRBY', META, 'chunks', '1'))
  call('ZADD', more_key(queue, host, group), '0', entry)
  return chunk_key(entry)
end

-- Remove an entry from more: if its chunk is empty.
local function drop_empty(queue, host, group, chunk, entry)
  if entry and call('EXISTS', chunk) == 0 then call('ZREM', more_key(queue, host, group), entry) end
end

-- The index of the first element of a chunk that is not before this one, and that element.
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

-- Append elements to a chunk; return its new size.
local function push(chunk, elements, from, upto)
  return call('RPUSH', chunk, unpack(elements, from, upto))
end

-- Append sorted elements behind all others, of which last is the last one (if any). A full last chunk
-- becomes an earlier one.
local function append(queue, host, group, elements, last)
  local tail, from = wait_key(queue, host, group), 1
  while true do
    local upto = math.min(from + CHUNK - 1, #elements)
    local surplus = math.min(push(tail, elements, from, upto) - CHUNK, upto - from + 1)
    if surplus > 0 then
      call('RPOP', tail, surplus)
      upto = upto - surplus
    end
    if upto == #elements then return end
    call('RENAME', tail, enter(queue, host, group, place_of(elements[upto] or last)))
    from = upto + 1
  end
end

-- Insert an element into a chunk of this size; return 1 if it was new, else 0.
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

-- Insert sorted elements into their chunk; return how many were new.
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
  local each, from = math.ceil(#all / math.ceil(#all / CHUNK)), 1
  call('DEL', chunk)
  while from + each <= #all do
    local upto = from + each - 1
    push(enter(queue, host, group, place_of(all[upto])), all, from, upto)
    from = upto + 1
  end
  push(chunk, all, from, #all)
  return #all - #old
end

-- Insert elements; return how many were new, and whether the first element may have changed.
local function insert(queue, host, group, elements)
  for i = 2, #elements do
    if before(elements[i], elements[i - 1]) then
      table.sort(elements, before)
      break
    end
  end
  -- usually they come last
  local last = call('LINDEX', wait_key(queue, host, group), '-1')
  local alone = not last and call('EXISTS', more_key(queue, host, group)) == 0
  if alone or (last and before(last, elements[1])) then
    append(queue, host, group, elements, last)
    return #elements, alone
  end
  local from, added = 1, 0
  while from <= #elements do
    local chunk, entry = chunk_of(queue, host, group, place_of(elements[from]))
    local bound, part = entry and place_of(entry), {elements[from]}
    for i = from + 1, #elements do
      if bound and before(bound, place_of(elements[i])) then break end
      part[#part + 1] = elements[i]
    end
    added = added + fill(queue, host, group, chunk, part)
    from = from + #part
  end
  return added, true
end

-- Find the element with a place: return it, its chunk, the chunk's entry, its index and the chunk's
-- size; or nil.
local function find(queue, host, group, place)
  local chunk, entry = chunk_of(queue, host, group, place)
  local size = call('LLEN', chunk)
  local at, element = seek(chunk, size, place)
  if element and place_of(element) == place then return element, chunk, entry, at, size end
end

-- Remove an element from its chunk.
local function remove(queue, host, group, chunk, entry, element)
  call('LREM', chunk, '1', element)
  drop_empty(queue, host, group, chunk, entry)
end

-- Remove the first link; return its element, and the place of the next one if it is in the same chunk.
local function pop_first(queue, host, group)
  local chunk, entry = first_chunk(queue, host, group)
  local first = call('LPOP', chunk)
  if not first then corrupt(chunk, 'empty') end
  if #first < PLACE + 2 then corrupt(chunk, 'an entry that is no link') end
  local following = call('LINDEX', chunk, '0')
  if following then return first, place_of(following) end
  if entry then call('ZREM', more_key(queue, host, group), entry) end
  return first
end

-- Remove up to n links from the last chunk; return their elements.
local function pop_last(queue, host, group, n)
  local gone = call('RPOP', wait_key(queue, host, group), n)
  if gone then return gone end
  local entry = call('ZREVRANGE', more_key(queue, host, group), '0', '0')[1]
  if not entry then return {} end
  local chunk = chunk_key(entry)
  gone = call('RPOP', chunk, n)
  if not gone then corrupt(chunk, 'no waiting links') end
  drop_empty(queue, host, group, chunk, entry)
  return gone
end

-- Place of the first waiting link of a host's group: 14 bytes, or nil.
local function first_place(queue, host, group)
  local chunk, entry = first_chunk(queue, host, group)
  local first = call('LINDEX', chunk, '0')
  if not first then
    if entry then corrupt(chunk, 'no waiting links') end
    return nil
  end
  if #first < PLACE then corrupt(chunk, 'an entry that is no link') end
  return place_of(first)
end
