-- Give waiting links new keys inside their group.
-- ARGS: links {queue, host, group, digest, key}
-- Returns how many of them wait.
-- needs: order, seen
local changed, moved = {}, 0

for _, link in ipairs(ARGS[1]) do
  local queue, host, group, digest, key = link[1], link[2], link[3], link[4], link[5]
  local bucket = seen_key(digest)
  local wait = wait_key(queue, host, group)
  local member, chunk, entry = waiting_member(queue, host, group, bucket, digest)
  if member then
    if chunk_of(queue, host, group, place_of(key, member)) == chunk then
      call('ZADD', chunk, num(key), member)
    else
      remove(queue, host, group, chunk, entry, member)
      insert(queue, host, group, {{key, member}})
    end
    seen_at(bucket, digest, string.sub(member, 1, SEQ) .. struct.pack('>d', key))
    changed[wait] = {queue, host, group}
    moved = moved + 1
  end
end
for _, part in pairs(changed) do file_wait(part[1], part[2], part[3]) end
return moved
