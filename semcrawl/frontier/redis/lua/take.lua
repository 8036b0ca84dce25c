-- Lease the best links that can be taken now.
-- ARGS: limit, lease time (microseconds), worker, queues, ids of leases whose downloads are over. For
-- a take that is published as an event: incarnation of the worker, number of events to keep, last
-- event it read (or false). Hosts to skip: {whether untried ones, pay-level domains}, or false. For a
-- shard: true, or the rank (see standing()) of the next shard's best link and how many links that
-- differ from it only in number may be taken beyond it; lists of queues; poll time (microseconds).
-- Returns {id, queue, host, group, key, member, sum of 1 if its host is held and 2 if the link is a
-- probe} for each; for a published take {id of the event ('' if nothing was taken), these}; for a
-- shard {that id, these, rank of the next link that is not skipped (or false), for each list of queues
-- a view (see _ready.lua)}.
-- Returns false, without a lease, if there are events after the last read one.
-- Withholds links of barren families (see _families.lua), up to 1000 in one call.
-- needs: ready, families, domains
local limit, lease_time, worker, queues, over = ARGS[1], ARGS[2], ARGS[3], ARGS[4], ARGS[5]
local incarnation, events_kept, read, left_out = ARGS[6], ARGS[7], ARGS[8], ARGS[9]
local shard, bound = ARGS[10], type(ARGS[10]) == 'table' and ARGS[10]
release_all(over)
if read then
  local start = read == '-' and '-' or '(' .. read
  if #call('XRANGE', ROOT .. 'events', start, '+', 'COUNT', '1') > 0 then return answer(false) end
end
tick()

local function leave_out(host)
  return (left_out[1] and untried(host)) or in_domains(host, left_out[2])
end

-- The best link that may be taken, in the form of best().
local function next_link()
  local queue, host, group, score, place = best(queues, left_out and leave_out)
  if queue or shard or not left_out or #left_out[2] == 0 or others_wait(left_out[2]) then
    return queue, host, group, score, place
  end
  left_out[2] = {}
  return best(queues, leave_out)
end
local taken, passed, ahead = {}, 0, 0
while #taken < limit and passed < 1000 do
  local queue, host, group, score, place = next_link()
  if not queue then break end
  if bound and is_behind(score, place, bound) then
    if ahead >= bound[3] or not is_alike(score, place, bound) then break end
    ahead = ahead + 1
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
    local id = lease_name(queue)
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
local event = ''
if incarnation and #taken > 0 then
  local told = {}
  for i, t in ipairs(taken) do told[i] = {t[2], t[3], t[4], t[6]} end
  event = call('XADD', ROOT .. 'events', 'MAXLEN', '~', events_kept, '*', 'w', incarnation,
    't', cmsgpack.pack(told))
end
if shard then
  local left, views = false, {}
  if left_out then
    local _, _, _, score, place = next_link()
    left = score and standing(score, place) or false
  end
  for i, others in ipairs(ARGS[11]) do views[i] = view(others, ARGS[12]) end
  return answer({event, taken, left, views})
end
return answer(incarnation and {event, taken} or taken)
