-- The order of links.
-- needs: hosts, waits
--
-- Groups with links on one host only are ordered inside the host (local:), and front: orders the hosts
-- by the best of these. Groups on several hosts order their hosts (spread:), and global: orders these
-- groups by their first link. A host that cannot be asked leaves front: at once, but a spread: only
-- when a take meets it there; it is then parked until it may be asked. So the cost does not depend on
-- the number of groups or hosts.

local function value(group)
  return tonumber(call('HGET', VALUES, group) or 0)
end

-- Added to the scores of hosts that come before or after others in front:.
local SCORE_OF_RANK = 1e300

-- File a host in front: by its best local group.
local function file_host(queue, host, may_be_asked)
  local front, filed = ROOT .. 'front:' .. queue, ROOT .. 'filed:' .. queue
  local best = {}
  if may_be_asked == nil then may_be_asked = available(host) end
  if may_be_asked then
    best = call('ZRANGE', local_key(queue, host), '0', '0', 'WITHSCORES')
  end
  local old = call('HGET', filed, host)
  if best[1] then
    local ranked, score = rank(host), best[2]
    if ranked then score = num(tonumber(score) + (ranked < 0 and -SCORE_OF_RANK or SCORE_OF_RANK)) end
    local place = turn(host) .. string.sub(best[1], 1, PLACE)
    if old ~= place then
      if old then call('ZREM', front, old .. host) end
      call('HSET', filed, host, place)
    end
    call('ZADD', front, score, place .. host)
  elseif old then
    call('ZREM', front, old .. host)
    call('HDEL', filed, host)
  end
end

-- File a group on several hosts in global: by its first host.
local function file_group(queue, group)
  local groups, global = ROOT .. 'groups:' .. queue, ROOT .. 'global:' .. queue
  local head = call('ZRANGE', spread_key(queue, group), '0', '0')[1]
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
    call('ZADD', spread_key(queue, group), '0', place .. host)
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

-- File a host's group whose first link changed; place is that of the link, if known.
local function file_wait(queue, host, group, place)
  local groups = ROOT .. 'groups:' .. queue
  place = place or first_place(queue, host, group)
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

-- Park a host that cannot be asked: remove it from a global group until it can.
local function park(queue, group, host)
  local places = place_key(queue, group)
  call('ZREM', spread_key(queue, group), call('HGET', places, host) .. host)
  call('HSET', places, host, '')
  call('SADD', parked_key(host), queue .. ':' .. group)
  file_group(queue, group)
end

-- File a host whose availability may have changed.
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

-- File a host whose turn changed.
local function file_turn(host)
  for _, queue in ipairs(all_queues()) do
    file_host(queue, host)
    for _, entry in ipairs(call('ZRANGE', ROOT .. 'global:' .. queue, '0', '-1')) do
      local group = string.sub(entry, 9 + PLACE)
      local place = call('HGET', place_key(queue, group), host)
      if place and place ~= '' then file_spread(queue, host, group, string.sub(place, 9)) end
    end
  end
end

-- Hosts and groups to check at first for one that is not skipped, and most hosts to check.
local LOOKED_AT, SEARCHED = 50, 5000

-- The first entry (place, host) of a sorted set whose host is not skipped, and its score; or nil.
local function first_host(key, leave_out)
  if not leave_out then
    local found = call('ZRANGE', key, '0', '0', 'WITHSCORES')
    return found[1], tonumber(found[2])
  end
  local from, to = 0, LOOKED_AT
  repeat
    local found = call('ZRANGE', key, num(from), num(to - 1), 'WITHSCORES')
    for i = 1, #found, 2 do
      if not leave_out(string.sub(found[i], 9 + PLACE)) then return found[i], tonumber(found[i + 1]) end
    end
    local is_last = #found < 2 * (to - from)
    from, to = to, math.min(4 * to, SEARCHED)
  until is_last or from >= SEARCHED
end

-- The first global group with a host that is not skipped: its entry, with that host's place; its score;
-- and that host's entry; or nil.
local function first_group(queue, leave_out)
  local found = call('ZRANGE', ROOT .. 'global:' .. queue, '0', leave_out and num(LOOKED_AT) or '0', 'WITHSCORES')
  for i = 1, #found, 2 do
    local group = string.sub(found[i], 9 + PLACE)
    local head = first_host(spread_key(queue, group), leave_out)
    if head then return string.sub(head, 1, 8 + PLACE) .. group, tonumber(found[i + 1]), head end
    if not leave_out then corrupt(spread_key(queue, group), 'empty') end
  end
end

-- The best link that can be taken now: queue, host, group, minus its group's value, turn and place; or
-- nil. Hosts for which leave_out returns true are skipped.
local function best(queues, leave_out)
  while true do
    local score, place, queue, id, head
    for _, q in ipairs(queues) do
      for _, kind in ipairs({'front', 'global'}) do
        local entry, s, h
        if kind == 'front' then
          entry, s = first_host(ROOT .. 'front:' .. q, leave_out)
        else
          entry, s, h = first_group(q, leave_out)
        end
        if entry then
          local p = string.sub(entry, 1, 8 + PLACE)
          if not score or s < score or (s == score and before(p, place)) then
            score, place, queue, id, head = s, p, q, string.sub(entry, 9 + PLACE), h
          end
        end
      end
    end
    if not score then return nil end
    if not head then
      local filed = string.sub(place, 1, 8)
      if filed == OLD_TURN or (filed == LATER) ~= (turn(id) == LATER) then
        file_host(queue, id)
      else
        local first = call('ZRANGE', local_key(queue, id), '0', '0')[1]
        if not first then corrupt(local_key(queue, id), 'empty') end
        return queue, id, string.sub(first, 1 + PLACE), score, place
      end
    else
      local host = string.sub(head, 9 + PLACE)
      if not available(host) then
        park(queue, id, host)
      elseif string.sub(head, 1, 8) ~= turn(host) then
        file_spread(queue, host, id, string.sub(head, 9, 8 + PLACE))
      else
        return queue, host, id, score, place
      end
    end
  end
end

-- A link's rank over all shards: minus its group's value, then its turn, key and number.
local function standing(score, place) return {num(score), place} end

-- Whether a link comes behind another's rank.
local function is_behind(score, place, other)
  local value = tonumber(other[1])
  return score > value or (score == value and before(other[2], place))
end

-- Whether a link and another's rank have the same value, turn and key.
local function is_alike(score, place, other)
  return score == tonumber(other[1]) and string.sub(place, 1, 16) == string.sub(other[2], 1, 16)
end
