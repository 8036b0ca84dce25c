-- Put links in, those already seen left out.
-- ARGS: parts {queue, host, group, links {index, key, label, digest, blob, sequence number, tries}},
-- the last two only for links that come from an exported frontier; again: seen ones go in too,
-- unless they wait in the same place
-- Returns the indices (from 0) of the new ones.
-- needs: order, seen
local again = ARGS[2]
local fresh, total = {}, 0
local by_label, by_host = {}, {}     -- for each queue
local function sum(sums, queue, name, n)
  if not sums[queue] then sums[queue] = {} end
  sums[queue][name] = (sums[queue][name] or 0) + n
end
-- Give a link that was seen another place, unless it waits.
local function see_again(queue, host, group, digest, where)
  local bucket = seen_key(digest)
  if find_waiting(queue, host, group, bucket, digest) then return false end
  call('HSET', bucket, digest, where)
  return true
end
for _, part in ipairs(ARGS[1]) do total = total + #part[4] end
local base = call('HINCRBY', META, 'seq', total) - total
local newest = base + total
for _, part in ipairs(ARGS[1]) do
  local queue, host, group, added = part[1], part[2], part[3], {}
  for _, link in ipairs(part[4]) do
    local index, key, label, digest, blob = link[1], link[2], link[3], link[4], link[5]
    local number = link[6] or base + index
    local seq = sequence(number)
    local where = seq .. struct.pack('>d', key)
    if see(digest, where) or (again and see_again(queue, host, group, digest, where)) then
      fresh[#fresh + 1] = index
      added[#added + 1] = element_of(key, make_member(seq, link[7] or 0, label, blob))
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

-- The last link of the last host of the worst group: what a full frontier drops.
local function worst()
  local queue, group, score
  for _, q in ipairs(all_queues()) do
    local r = call('ZRANGE', ROOT .. 'order:' .. q, 0, 0, 'WITHSCORES')
    if r[1] and (not score or tonumber(r[2]) < score) then
      queue, group, score = q, r[1], tonumber(r[2])
    end
  end
  if not queue then return nil end
  local info = call('HGET', ROOT .. 'groups:' .. queue, group)
  if string.sub(info, 1, 1) == 'L' then return queue, string.sub(info, 2 + PLACE), group end
  local last = call('ZRANGE', spread_key(queue, group), -1, -1)[1]
  if last then return queue, string.sub(last, 9 + PLACE), group end
  return queue, call('HRANDFIELD', place_key(queue, group)), group
end

if OPTIONS.max_waiting > 0 and #fresh > 0 then
  local waiting = 0
  for _, queue in ipairs(all_queues()) do
    for _, n in ipairs(call('HVALS', ROOT .. 'labels:' .. queue)) do waiting = waiting + n end
  end
  while waiting > OPTIONS.max_waiting do
    local queue, host, group = worst()
    if not queue then break end
    local gone = pop_last(queue, host, group, waiting - OPTIONS.max_waiting)
    for _, member in ipairs(gone) do count(queue, member_label(member), -1) end
    count_host(queue, host, -#gone)
    file_wait(queue, host, group)
    waiting = waiting - #gone
    call('HINCRBY', META, 'dropped', #gone)
  end
end
return answer(fresh)
