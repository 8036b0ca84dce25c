-- Compare all sums and orders with the structures. For tests and tools: it reads every host, group and
-- waiting link.
-- Returns the differences as texts.
-- needs: leases
local wrong = {}
local function expect(what, found, wanted)
  if found ~= wanted then
    wrong[#wrong + 1] = what .. ': found ' .. tostring(found) .. ', expected ' .. tostring(wanted)
  end
end
local function pairs_of(flat)
  local map = {}
  for i = 1, #flat, 2 do map[flat[i]] = flat[i + 1] end
  return map
end

for _, queue in ipairs(all_queues()) do
  local hosts, labels, n_groups, global = {}, {}, 0, {}
  local front = {}
  local groups = pairs_of(call('HGETALL', ROOT .. 'groups:' .. queue))
  local order = pairs_of(call('ZRANGE', ROOT .. 'order:' .. queue, 0, -1, 'WITHSCORES'))
  for group, info in pairs(groups) do
    n_groups = n_groups + 1
    expect('order of ' .. group, tonumber(order[group]), value(group))
    local places = {}
    local function look(host)
      local entries = call('ZRANGE', more_key(queue, host, group), 0, -1)
      local before_it
      for i = 1, #entries + 1 do
        local entry = entries[i]
        local key = entry and chunk_key(entry) or wait_key(queue, host, group)
        local links = call('LRANGE', key, 0, -1)
        local n = #links
        if n == 0 and entry then wrong[#wrong + 1] = 'empty ' .. key end
        if n > CHUNK then wrong[#wrong + 1] = 'too many in ' .. key end
        hosts[host] = (hosts[host] or 0) + n
        for j, element in ipairs(links) do
          local label = member_label(member_of(element))
          labels[label] = (labels[label] or 0) + 1
          if j > 1 and not before(links[j - 1], element) then
            wrong[#wrong + 1] = 'not in order: ' .. j .. ' of ' .. key
          end
        end
        if n > 0 and before_it and not before(before_it, place_of(links[1])) then
          wrong[#wrong + 1] = 'before its bound: first of ' .. key
        end
        before_it = entry and place_of(entry)
        if n > 0 and entry and before(before_it, place_of(links[n])) then
          wrong[#wrong + 1] = 'behind its bound: last of ' .. key
        end
      end
      return first_place(queue, host, group)
    end
    if string.sub(info, 1, 1) == 'L' then
      local host = string.sub(info, 2 + PLACE)
      local place = look(host)
      expect('place of ' .. group, string.sub(info, 2, 1 + PLACE), place)
      expect('local ' .. group, tonumber(call('ZSCORE', local_key(queue, host), place .. group) or nil),
             -value(group))
      front[host] = true
    else
      local n = 0
      for host, place in pairs(pairs_of(call('HGETALL', place_key(queue, group)))) do
        local first = look(host)
        if place == '' then
          expect('parked ' .. host, call('SISMEMBER', parked_key(host), queue .. ':' .. group), 1)
        else
          n = n + 1
          expect('place of ' .. group .. ' ' .. host, string.sub(place, 9), first)
          expect('spread ' .. group, call('ZSCORE', spread_key(queue, group), place .. host), '0')
        end
      end
      expect('spread of ' .. group, call('ZCARD', spread_key(queue, group)), n)
      local head = call('ZRANGE', spread_key(queue, group), 0, 0)[1]
      expect('global place of ' .. group, string.sub(info, 2), string.sub(head or '', 1, 8 + PLACE))
      if head then
        global[group] = true
        expect('global ' .. group, tonumber(call('ZSCORE', ROOT .. 'global:' .. queue,
               string.sub(info, 2) .. group) or nil), -value(group))
      end
    end
  end
  expect('groups in order:' .. queue, call('ZCARD', ROOT .. 'order:' .. queue), n_groups)
  local n = 0
  for _ in pairs(global) do n = n + 1 end
  expect('groups in global:' .. queue, call('ZCARD', ROOT .. 'global:' .. queue), n)
  n = 0
  for host in pairs(front) do
    if available(host) and not call('ZSCORE', COOLING, host) then
      n = n + 1
      local best = call('ZRANGE', local_key(queue, host), 0, 0, 'WITHSCORES')
      local filed = call('HGET', ROOT .. 'filed:' .. queue, host) or ''
      expect('filed ' .. host, string.sub(filed, 9), string.sub(best[1], 1, PLACE))
      local added = rank(host) and (rank(host) < 0 and -SCORE_OF_RANK or SCORE_OF_RANK) or 0
      expect('front ' .. host, tonumber(call('ZSCORE', ROOT .. 'front:' .. queue, filed .. host) or nil),
             best[2] + added)
    end
  end
  expect('hosts in front:' .. queue, call('ZCARD', ROOT .. 'front:' .. queue), n)
  expect('hosts filed', call('HLEN', ROOT .. 'filed:' .. queue), n)
  n = 0
  for host, waiting in pairs(hosts) do
    n = n + 1
    expect('hosts:' .. queue .. ' ' .. host, tonumber(call('HGET', ROOT .. 'hosts:' .. queue, host)
           or nil), waiting)
  end
  expect('hosts', call('HLEN', ROOT .. 'hosts:' .. queue), n)
  for _, id in ipairs(call('ZRANGE', ROOT .. 'delayed:' .. queue, 0, -1)) do
    local label = member_label(lease_record(id).member)
    labels[label] = (labels[label] or 0) + 1
  end
  n = 0
  for label, waiting in pairs(labels) do
    n = n + 1
    expect('label ' .. label, tonumber(call('HGET', ROOT .. 'labels:' .. queue, label) or nil), waiting)
  end
  expect('labels', call('HLEN', ROOT .. 'labels:' .. queue), n)
end
local leases, records = 0, call('HLEN', LEASE)
for _, queue in ipairs(all_queues()) do
  leases = leases + call('ZCARD', ROOT .. 'leases:' .. queue) + call('ZCARD', ROOT .. 'delayed:' .. queue)
end
expect('lease records', records, leases)
local seen = 0
for i = 0, tonumber(call('HGET', META, 'buckets') or 1) - 1 do
  seen = seen + call('HLEN', ROOT .. 'seen:' .. i)
end
expect('seen', tonumber(call('HGET', META, 'seen') or 0), seen)
return wrong
