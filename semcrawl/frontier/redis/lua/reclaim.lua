-- Give back a worker's leases at once (it ends, or restarts after a crash), let its pending seeds be
-- taken again, and end its errands.
-- ARGS: worker, or false for all workers
-- Returns the number of links.
-- needs: leases, seeds
local n = 0
if ARGS[1] then call('ZREM', ROOT .. 'members', ARGS[1]) end
for _, queue in ipairs(all_queues()) do
  for _, id in ipairs(call('ZRANGE', ROOT .. 'leases:' .. queue, 0, -1)) do
    local record = lease_record(id)
    if record and (not ARGS[1] or record.worker == ARGS[1]) then
      go_back(id, record)
      n = n + 1
    end
  end
end
for _, member in ipairs(call('ZRANGE', ERRANDS, 0, -1)) do
  local worker, errand, host = errand_parts(member)
  if worker and (not ARGS[1] or worker == ARGS[1]) then end_errand(host, errand, worker) end
end
for _, list in ipairs(call('SMEMBERS', SEED_LISTS)) do
  for _, member in ipairs(call('ZRANGE', pending_key(list), 0, -1)) do
    local worker = pending_parts(list, member)
    if not ARGS[1] or worker == ARGS[1] then
      call('ZADD', pending_key(list), '0', member)
    end
  end
end
return n
