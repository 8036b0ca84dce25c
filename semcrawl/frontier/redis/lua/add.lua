-- Add links, except those already seen.
-- ARGS: parts {queue, host, group, links}, where links is one flat list of index, key, label, digest
-- and blob of each (a list per link would be expensive for Lua); again: add seen ones too, unless they
-- wait in the same group; places: for imported links {sequence number, tries} by index (from 1), else
-- false; ids of leases whose downloads are over (if any). For a shard also: number of links added in
-- all shards; least sequence number; lists of queues; poll time (microseconds).
-- Returns the indices (from 0) of the new ones; for a shard {these, next sequence number, for each list
-- of queues a view (see _ready.lua)}.
-- The texts that Lua makes, hashes and frees cost most: five for each new link.
-- needs: ready, seen, dropping
local again, places, all, counted = ARGS[2], ARGS[3], ARGS[5], ARGS[6]
release_all(ARGS[4] or {})
local fresh, total = {}, 0
local by_label, by_host = {}, {}     -- for each queue
local heads = {}                     -- of members never taken, by label
local function sum(sums, queue, name, n)
  if not sums[queue] then sums[queue] = {} end
  sums[queue][name] = (sums[queue][name] or 0) + n
end
-- Store a new place of a seen link, unless it waits; return whether it did not.
local function see_again(queue, host, group, digest, where)
  local bucket = seen_key(digest)
  if find_waiting(queue, host, group, bucket, digest) then return false end
  call('HSET', bucket, digest, where)
  return true
end
for _, part in ipairs(ARGS[1]) do total = total + #part[4] / 5 end
total = all or total
local base = call('HINCRBY', META, 'seq', total) - total
if counted and counted > base then
  base = counted
  call('HSET', META, 'seq', num(base + total))
end
local newest = base + total
for _, part in ipairs(ARGS[1]) do
  local queue, host, group, links, added = part[1], part[2], part[3], part[4], {}
  local last_key, sorted
  for i = 1, #links, 5 do
    local index, key, label, digest = links[i], links[i + 1], links[i + 2], links[i + 3]
    local number, tries = base + index, 0
    if places then number, tries = unpack(places[index + 1]) end
    if key ~= last_key then last_key, sorted = key, sortable(key) end
    local where = struct.pack('>I6d', number, key)
    if see(digest, where) or (again and see_again(queue, host, group, digest, where)) then
      fresh[#fresh + 1] = index
      local head = tries == 0 and heads[label] or member_head(tries, label)
      if tries == 0 then heads[label] = head end
      added[#added + 1] = struct.pack('>c8I6c0c0', sorted, number, head, links[i + 4])
      sum(by_label, queue, label, 1)
      newest = math.max(newest, number + 1)
    end
  end
  if #added > 0 then
    sum(by_host, queue, host, #added)
    local _, changed = insert(queue, host, group, added)
    if changed then file_wait(queue, host, group) end
  end
end
for queue, hosts in pairs(by_host) do
  if call('SADD', ROOT .. 'queues', queue) == 1 then queues_known = nil end
  for host, n in pairs(hosts) do count_host(queue, host, n) end
  for label, n in pairs(by_label[queue]) do count(queue, label, n) end
end
seen_save()
if newest > base + total then call('HSET', META, 'seq', newest) end

if OPTIONS.max_waiting > 0 and #fresh > 0 then
  local waiting = 0
  for _, queue in ipairs(all_queues()) do
    for _, n in ipairs(call('HVALS', ROOT .. 'labels:' .. queue)) do waiting = waiting + n end
  end
  drop_worst(waiting - OPTIONS.max_waiting)
end
if not all then return answer(fresh) end
local views = {}
if #ARGS[7] > 0 then tick() end
for i, queues in ipairs(ARGS[7]) do views[i] = view(queues, ARGS[8]) end
return answer({fresh, newest, views})
