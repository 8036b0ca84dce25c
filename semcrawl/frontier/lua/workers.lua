-- Names of the workers that hold leases.
-- needs: leases
local names, list = {}, {}
for _, queue in ipairs(all_queues()) do
  for _, id in ipairs(call('ZRANGE', ROOT .. 'leases:' .. queue, 0, -1)) do
    local record = lease_record(id)
    if record and not names[record.worker] then
      names[record.worker] = true
      list[#list + 1] = record.worker
    end
  end
end
return list
