-- Give back leased links, perhaps changed; they can be taken after the delay.
-- ARGS: links {id, queue, host, group, key, label, blob, digest}, delay (microseconds)
-- needs: leases, seen
for _, link in ipairs(ARGS[1]) do
  local id, queue, host, group, key = link[1], link[2], link[3], link[4], link[5]
  local label, blob, digest = link[6], link[7], link[8]
  local record = lease_record(id)
  if record then
    forget_lease(id, record)
    local seq = string.sub(record.member, 1, SEQ)
    local member = make_member(seq, member_tries(record.member) + 1, label, blob)
    if call('SADD', ROOT .. 'queues', queue) == 1 then queues_known = nil end
    seen_at(seen_key(digest), digest, seq .. struct.pack('>d', key))
    count(queue, label, 1)
    if ARGS[2] > 0 then
      local again = lease_name(queue)
      call('HSET', LEASE, again, cmsgpack.pack({queue, host, group, key, member, ''}))
      call('ZADD', ROOT .. 'delayed:' .. queue, num(NOW + ARGS[2]), again)
    else
      put(queue, host, group, key, member)
    end
  end
end
return 1
