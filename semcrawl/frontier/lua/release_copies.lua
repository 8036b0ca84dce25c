-- Put links back that wait for what is not being asked for any more: nothing is under way.
-- ARGS: limit
-- Returns how many.
-- needs: mirrors
if call('HLEN', COPY) == 0 then return 0 end
for _, queue in ipairs(all_queues()) do
  for _, kind in ipairs({'leases:', 'delayed:'}) do
    if call('ZCARD', ROOT .. kind .. queue) > 0 then return 0 end
  end
end
local n = 0
for _, path in ipairs(call('HRANDFIELD', COPY, ARGS[1])) do
  for _, link in ipairs(pending(path)) do n = n + put_back(link[1], link[2]) end
  call('HDEL', COPY, path)
  keep_given(path, without(given(path), nil, true), true)
end
return n
