-- Names of the workers with leases, errands or pending seeds.
-- needs: leases, seeds
local names, list = {}, {}
local function note(worker)
  if not names[worker] then
    names[worker] = true
    list[#list + 1] = worker
  end
end
for _, queue in ipairs(all_queues()) do
  for _, id in ipairs(call('ZRANGE', ROOT .. 'leases:' .. queue, 0, -1)) do
    local record = lease_record(id)
    if record then note(record.worker) end
  end
end
for _, member in ipairs(call('ZRANGE', ERRANDS, 0, -1)) do
  local worker = errand_parts(member)
  if worker then note(worker) end
end
for _, seeds in ipairs(call('SMEMBERS', SEED_LISTS)) do
  for _, member in ipairs(call('ZRANGE', pending_key(seeds), 0, -1)) do
    note((pending_parts(seeds, member)))
  end
end
return list
