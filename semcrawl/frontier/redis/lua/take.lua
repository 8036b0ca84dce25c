-- Lease the best links that can be taken now.
-- ARGS: limit, lease time (microseconds), worker, queues, ids of leases whose downloads are over,
-- and for a take that is told to all as an event: incarnation of the worker, number of events kept,
-- last event it read (or false); last, if hosts are to be left out: true for those that gave nothing yet,
-- pay-level domains.
-- Returns {id, queue, host, group, key, member, sum of 1 if its host is held and 2 if the link is to
-- find out whether its host answers again} for each; of a take that is
-- told {id of the event ('' if nothing was taken), these}. Leases nothing and returns false when
-- there are events after the last that was read.
-- A link that is withheld (see _families.lua) is passed over, up to 1000 of them in one call.
-- needs: leases, families
local limit, lease_time, worker, queues, over = ARGS[1], ARGS[2], ARGS[3], ARGS[4], ARGS[5]
local incarnation, events_kept, read, left_out = ARGS[6], ARGS[7], ARGS[8], ARGS[9]
release_all(over)
if read then
  local start = read == '-' and '-' or '(' .. read
  if #call('XRANGE', ROOT .. 'events', start, '+', 'COUNT', '1') > 0 then return answer(false) end
end
tick()

-- Whether a host is of a domain that is to be left out.
local function in_domains(host)
  local name = string.gsub(host, ':%d+$', '')
  for _, domain in ipairs(left_out[2]) do
    if name == domain or string.sub(name, -#domain - 1) == '.' .. domain then return true end
  end
  return false
end
local function leave_out(host)
  return (left_out[1] and untried(host)) or in_domains(host)
end

-- Whether links wait on hosts of other pay-level domains than those that are left out. (As a whole
-- domain may have a share only beside others; of many hosts some tell enough.)
local function others_wait()
  for _, queue in ipairs(all_queues()) do
    for _, host in ipairs(call('HRANDFIELD', ROOT .. 'hosts:' .. queue, '20')) do
      if not in_domains(host) then return true end
    end
  end
  return false
end
local taken, passed = {}, 0
while #taken < limit and passed < 1000 do
  local queue, host, group = best(queues, left_out and leave_out)
  if not queue then
    if not left_out or #left_out[2] == 0 or others_wait() then break end
    left_out[2] = {}
    queue, host, group = best(queues, leave_out)
    if not queue then break end
  end
  local first, following = pop_first(queue, host, group)
  local link_key, member = unsortable(first), member_of(first)
  count(queue, member_label(member), -1)
  count_host(queue, host, -1)
  local family = TRIES > 0 and family_of(member)
  if family and is_withheld(family) then
    withhold(family, queue, host, group, link_key, member)
    file_wait(queue, host, group, following)
    passed = passed + 1
  else
    local id = queue .. ':' .. call('HINCRBY', META, 'takes', '1')
    call('HSET', LEASE, id, cmsgpack.pack({queue, host, group, link_key, member, worker}))
    call('ZADD', ROOT .. 'leases:' .. queue, num(NOW + lease_time), id)
    local delay = pace(host)
    call('HSET', busy_key(host), id, delay > 0 and '0' or '1')
    if delay > 0 then cool(host, NOW + lease_time) end
    move_turn(host)
    file_wait(queue, host, group, following)
    if not available(host) then file_availability(host) end
    local flags = (delay > 0 and 1 or 0) + 2 * call('HEXISTS', DOWN, host)
    taken[#taken + 1] = {id, queue, host, group, num(link_key), member, flags}
  end
end
if not incarnation then return answer(taken) end
local event = ''
if #taken > 0 then
  local told = {}
  for i, t in ipairs(taken) do told[i] = {t[2], t[3], t[4], t[6]} end
  event = call('XADD', ROOT .. 'events', 'MAXLEN', '~', events_kept, '*', 'w', incarnation,
    't', cmsgpack.pack(told))
end
return answer({event, taken})
