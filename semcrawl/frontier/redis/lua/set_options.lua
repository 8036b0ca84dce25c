-- Set the crawl's options for all its workers.
-- ARGS: options (msgpack map)
-- needs: leases
call('HSET', META, 'options', ARGS[1])
for name, option in pairs(cmsgpack.unpack(ARGS[1])) do OPTIONS[name] = option end
-- hosts with downloads were filed by the old options
local hosts = {}
for _, id in ipairs(call('HKEYS', LEASE)) do
  local record = lease_record(id)
  if record then hosts[record.host] = true end
end
for host in pairs(hosts) do file_availability(host) end
return 1
