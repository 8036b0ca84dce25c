-- Put a worker's leases back at once (it ends, or it starts again after a crash).
-- ARGS: worker, or false for all workers
-- Returns how many.
-- needs: leases
local n = 0
for _, queue in ipairs(all_queues()) do
  for _, id in ipairs(call('ZRANGE', ROOT .. 'leases:' .. queue, 0, -1)) do
    local record = lease_record(id)
    if record and (not ARGS[1] or record.worker == ARGS[1]) then
      go_back(id, record)
      n = n + 1
    end
  end
end
return n
