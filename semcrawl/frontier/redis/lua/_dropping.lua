-- Drops links of a full frontier.
-- needs: order

-- Queue, host and group of the worst link: the last one of the worst group's last host.
local function worst()
  local queue, group, score
  for _, q in ipairs(all_queues()) do
    local r = call('ZRANGE', ROOT .. 'order:' .. q, '0', '0', 'WITHSCORES')
    if r[1] and (not score or tonumber(r[2]) < score) then
      queue, group, score = q, r[1], tonumber(r[2])
    end
  end
  if not queue then return nil end
  local info = call('HGET', ROOT .. 'groups:' .. queue, group)
  if string.sub(info, 1, 1) == 'L' then return queue, string.sub(info, 2 + PLACE), group, score end
  local last = call('ZREVRANGE', spread_key(queue, group), '0', '0')[1]
  if last then return queue, string.sub(last, 9 + PLACE), group, score end
  return queue, call('HRANDFIELD', place_key(queue, group)), group, score
end

-- Drop up to surplus links, only of groups with values up to the bound (if there is one); return how
-- many.
local function drop_worst(surplus, bound)
  local dropped = 0
  while dropped < surplus do
    local queue, host, group, score = worst()
    if not queue or (bound and score > bound) then break end
    local gone = pop_last(queue, host, group, surplus - dropped)
    for _, element in ipairs(gone) do count(queue, member_label(member_of(element)), -1) end
    count_host(queue, host, -#gone)
    file_wait(queue, host, group)
    dropped = dropped + #gone
  end
  if dropped > 0 then call('HINCRBY', META, 'dropped', dropped) end
  return dropped
end
