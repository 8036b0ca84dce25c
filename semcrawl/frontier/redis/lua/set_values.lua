-- Set values of groups.
-- ARGS: map of group to value
-- needs: order
for group, v in pairs(ARGS[1]) do
  if value(group) ~= v or call('HEXISTS', VALUES, group) == 0 then
    call('HSET', VALUES, group, num(v))
    for _, queue in ipairs(all_queues()) do
      local info = call('HGET', ROOT .. 'groups:' .. queue, group)
      if info then
        call('ZADD', ROOT .. 'order:' .. queue, num(v), group)
        if string.sub(info, 1, 1) == 'L' then
          local place, host = string.sub(info, 2, 1 + PLACE), string.sub(info, 2 + PLACE)
          call('ZADD', local_key(queue, host), num(-v), place .. group)
          file_host(queue, host)
        elseif #info > 1 then
          call('ZADD', ROOT .. 'global:' .. queue, num(-v), string.sub(info, 2) .. group)
        end
      end
    end
  end
end
return 1
