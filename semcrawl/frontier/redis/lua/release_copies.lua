-- Restore links that were withheld for a mirror's copy, if no link is leased or delayed, so that no
-- copy can come. Of each pair of mirrors with links withheld since the last check, restore the last one
-- and a random one as a check, as new content may differ.
-- ARGS: most paths
-- Returns how many.
-- needs: mirrors
for _, queue in ipairs(all_queues()) do
  for _, kind in ipairs({'leases:', 'delayed:'}) do
    if call('ZCARD', ROOT .. kind .. queue) > 0 then return 0 end
  end
end
local n = 0
for _, name in ipairs(call('SMEMBERS', WITHHOLDING)) do
  local key = family_key(name)
  local r = call('HMGET', key, 'mirror', 'checked')
  local links = call('HLEN', withheld_key(name))
  if COPIES > 0 and r[1] and links > tonumber(r[2] or 0) then
    local last = ''
    for _, seq in ipairs(call('HKEYS', withheld_key(name))) do
      if before(last, seq) then last = seq end
    end
    n = n + put_back(name, last)
    for _, seq in ipairs(call('HRANDFIELD', withheld_key(name), 1)) do n = n + put_back(name, seq) end
    call('HSET', key, 'checked', call('HLEN', withheld_key(name)))
    call('HDEL', key, 'met')  -- both are fetched
  end
end
for _, path in ipairs(call('HRANDFIELD', COPY, ARGS[1])) do
  for _, link in ipairs(pending(path)) do n = n + put_back(link[1], link[2]) end
  call('HDEL', COPY, path)
  keep_given(path, without(given(path), nil, true), true)
end
return n
