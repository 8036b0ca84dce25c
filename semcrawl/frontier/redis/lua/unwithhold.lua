-- Restore withheld links whose families no longer count as barren.
-- ARGS: limit
-- Returns how many.
-- needs: families, leases
local n = 0
for _, name in ipairs(call('SMEMBERS', WITHHOLDING)) do
  if not is_barren(name) then
    local key = withheld_key(name)
    for _, seq in ipairs(call('HKEYS', key)) do
      if n >= ARGS[1] then return n end
      local ok, link = pcall(cmsgpack.unpack, call('HGET', key, seq))
      if not ok or type(link) ~= 'table' or #link ~= 5 then corrupt(key, 'a withheld link') end
      local queue, host, group, link_key, member = unpack(link)
      call('HDEL', key, seq)
      count(queue, member_label(member), 1)
      put(queue, host, group, link_key, member)
      n = n + 1
    end
    call('SREM', WITHHOLDING, name)
    call('HDEL', family_key(name), 'met')
  end
end
return n
