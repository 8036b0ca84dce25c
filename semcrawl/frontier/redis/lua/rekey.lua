-- Set keys of links that still wait.
-- ARGS: links {queue, host, group, digest, key}
-- Returns how many of them wait.
-- needs: order, seen
local changed, moved = {}, 0

for _, link in ipairs(ARGS[1]) do
  local queue, host, group, digest, key = link[1], link[2], link[3], link[4], link[5]
  local bucket = seen_key(digest)
  local wait = wait_key(queue, host, group)
  local old, chunk, entry, at, size = find_waiting(queue, host, group, bucket, digest)
  if old then
    local new = element_of(key, member_of(old))
    if chunk_of(queue, host, group, place_of(new)) ~= chunk then
      remove(queue, host, group, chunk, entry, old)
      insert(queue, host, group, {new})
    elseif new ~= old then
      local to, there = seek(chunk, size, new)
      if to == at or to == at + 1 then
        call('LSET', chunk, at, new)
      else
        call('LREM', chunk, '1', old)
        if there then
          call('LINSERT', chunk, 'BEFORE', there, new)
        else
          call('RPUSH', chunk, new)
        end
      end
    end
    seen_at(bucket, digest, string.sub(new, 9, PLACE) .. struct.pack('>d', key))
    changed[wait] = {queue, host, group}
    moved = moved + 1
  end
end
for _, part in pairs(changed) do file_wait(part[1], part[2], part[3]) end
return moved
