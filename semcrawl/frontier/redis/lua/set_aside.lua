-- Move waiting and delayed links of a host to the failed ones.
-- ARGS: host, limit, limit of failed links (beyond it they are dropped)
-- Returns {queue, group, key, member} for each.
-- needs: leases
local host, limit, most = ARGS[1], ARGS[2], ARGS[3]
local gone = {}
local function keep(queue, group, key, member)
  count(queue, member_label(member), -1)
  local failed = ROOT .. 'failed:' .. queue
  if call('HLEN', failed) < most then
    call('HSET', failed, string.sub(member, 1, SEQ), cmsgpack.pack({host, group, key, member}))
  end
  gone[#gone + 1] = {queue, group, num(key), member}
end

-- The host's groups: local ones, those in which it is parked, and those shared with other hosts.
local function groups_of(queue)
  local found = {}
  for _, entry in ipairs(call('ZRANGE', local_key(queue, host), '0', '-1')) do
    found[#found + 1] = string.sub(entry, 1 + PLACE)
  end
  for _, name in ipairs(call('SMEMBERS', parked_key(host))) do
    if string.sub(name, 1, #queue + 1) == queue .. ':' then
      found[#found + 1] = string.sub(name, #queue + 2)
    end
  end
  for _, entry in ipairs(call('ZRANGE', ROOT .. 'global:' .. queue, '0', '-1')) do
    local group = string.sub(entry, 9 + PLACE)
    local place = call('HGET', place_key(queue, group), host)
    if place and place ~= '' then found[#found + 1] = group end
  end
  return found
end

for _, queue in ipairs(all_queues()) do
  local waiting = 0
  for _, group in ipairs(groups_of(queue)) do
    local first = #gone < limit and first_place(queue, host, group)
    while first and #gone < limit do
      local element = pop_first(queue, host, group)
      keep(queue, group, unsortable(element), member_of(element))
      waiting = waiting + 1
      first = first_place(queue, host, group)
    end
    file_wait(queue, host, group, first or nil)
  end
  if waiting > 0 then count_host(queue, host, -waiting) end
  local delayed = ROOT .. 'delayed:' .. queue
  for _, id in ipairs(call('ZRANGE', delayed, '0', '-1')) do
    local record = #gone < limit and lease_record(id)
    if record and record.host == host then
      call('ZREM', delayed, id)
      call('HDEL', LEASE, id)
      keep(queue, record.group, record.key, record.member)
    end
  end
end
if #gone > 0 then call('HINCRBY', META, 'failed', #gone) end
return answer(gone)
