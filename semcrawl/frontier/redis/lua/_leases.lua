-- Leases, errands, and what happens when they expire.
-- needs: order

local function put(queue, host, group, key, member)
  if insert(queue, host, group, {element_of(key, member)}) == 1 then
    count_host(queue, host, 1)
  end
  file_wait(queue, host, group)
end

-- Requests reach a host some time after they start. So that no two arrive closer than the delay, it
-- counts from the end of a download that ends within this time. A busy machine may take a quarter of
-- a second between start and arrival.
local function slack(delay)
  return math.max(delay / 10, 250000)
end

-- End a download. Its mark in busy: is 0 if its start was not reported and it held the host (the delay
-- counts from now), 1 if there is no delay, else the time of its start.
local function release(host, id)
  local flag = call('HGET', busy_key(host), id)
  if not flag then return end
  local was, delay = available(host), pace(host)
  local cooled = call('ZSCORE', COOLING, host)
  call('HDEL', busy_key(host), id)
  if flag == '0' then
    cool(host, NOW + delay)
  elseif flag ~= '1' and delay > 0 then
    local till = math.min(NOW, tonumber(flag) + slack(delay)) + delay
    if till > tonumber(call('ZSCORE', COOLING, host) or 0) then cool(host, till) end
  end
  -- a delay may have ended that no tick noticed, and none will, as its entry is gone
  local unseen = cooled and not call('ZSCORE', COOLING, host)
  if unseen or was ~= available(host) then file_availability(host) end
end

-- ---- errands: their members are worker, errand and host, by the time at which they are void

local function errand_member(host, errand, worker) return worker .. '\0' .. errand .. '\0' .. host end

local function errand_parts(member) return string.match(member, '^(%Z*)%z(%Z*)%z(.*)$') end

local function note_errand(host, errand, worker, void)
  call('ZADD', ERRANDS, num(void), errand_member(host, errand, worker))
end

-- End an errand; if nothing was sent, the host may be asked at once.
local function end_errand(host, errand, worker, spared)
  call('ZREM', ERRANDS, errand_member(host, errand, worker))
  local busy = busy_key(host)
  local mark = call('HGET', busy, errand)
  if not mark then return end
  if is_waiting(mark) or (spared and mark == '0') then
    call('HDEL', busy, errand)
    if mark == '0' then cool(host, NOW) end
  else
    release(host, errand)
  end
  file_availability(host)
end

-- A new lease id. In a shard it contains the shard's number.
local SHARD = string.match(ROOT, '%.(%d+)}:$')
local function lease_name(queue)
  local number = call('HINCRBY', META, 'takes', '1')
  return queue .. ':' .. (SHARD and SHARD .. ':' or '') .. number
end

-- A lease's record, or nil when it is void.
local function lease_record(id)
  local r = call('HGET', LEASE, id)
  if not r then return nil end
  local ok, record = pcall(cmsgpack.unpack, r)
  if not ok or type(record) ~= 'table' or #record ~= 6 then corrupt(LEASE, 'lease ' .. id) end
  return {queue = record[1], host = record[2], group = record[3], key = record[4],
          member = record[5], worker = record[6]}
end

-- End these leases' downloads.
local function release_all(ids)
  for _, id in ipairs(ids) do
    local record = lease_record(id)
    if record then release(record.host, id) end
  end
end

local function forget_lease(id, record)
  call('HDEL', LEASE, id)
  call('ZREM', ROOT .. 'leases:' .. record.queue, id)
  release(record.host, id)
end

-- Put a leased link back into its place, as its take was not acknowledged.
local function go_back(id, record)
  forget_lease(id, record)
  local m = lost_member(record.member, tonumber(string.match(id, ':(%d+)$')))
  count(record.queue, member_label(m), 1)
  put(record.queue, record.host, record.group, record.key, m)
end

-- Put back expired leases and due retries, end void errands, and file hosts whose delay is over.
local function tick()
  local now = num(NOW)
  for _, queue in ipairs(all_queues()) do
    local leases = ROOT .. 'leases:' .. queue
    local expired = call('ZRANGEBYSCORE', leases, '-inf', now, 'LIMIT', '0', '100')
    for _, id in ipairs(expired) do
      local record = lease_record(id)
      if record then
        go_back(id, record)
        call('HINCRBY', META, 'expired', '1')
      else
        call('ZREM', leases, id)
      end
    end
    local delayed = ROOT .. 'delayed:' .. queue
    for _, id in ipairs(call('ZRANGEBYSCORE', delayed, '-inf', now, 'LIMIT', '0', '100')) do
      local record = lease_record(id)
      call('ZREM', delayed, id)
      if record then
        call('HDEL', LEASE, id)
        put(record.queue, record.host, record.group, record.key, record.member)
      end
    end
  end
  for _, member in ipairs(call('ZRANGEBYSCORE', ERRANDS, '-inf', now, 'LIMIT', '0', '100')) do
    local worker, errand, host = errand_parts(member)
    if not worker then corrupt(ERRANDS, 'no errand') end
    end_errand(host, errand, worker)
  end
  for _, host in ipairs(call('ZRANGEBYSCORE', COOLING, '-inf', now, 'LIMIT', '0', '200')) do
    call('ZREM', COOLING, host)
    file_availability(host)
  end
end
