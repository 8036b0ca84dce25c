-- Remove finished links of expired leases if they wait again.
-- ARGS: links {queue, host, group, digest}
-- Returns how many were waiting.
-- needs: order, seen
local n = 0
for _, link in ipairs(ARGS[1]) do
  local queue, host, group, digest = link[1], link[2], link[3], link[4]
  local element, chunk, entry = find_waiting(queue, host, group, seen_key(digest), digest)
  if element then
    remove(queue, host, group, chunk, entry, element)
    count(queue, member_label(member_of(element)), -1)
    count_host(queue, host, -1)
    file_wait(queue, host, group)
    n = n + 1
  end
end
if n > 0 then call('HINCRBY', META, 'done', n) end
return n
