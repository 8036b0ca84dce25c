-- Add imported failed links.
-- ARGS: links {queue, host, group, key, label, digest, blob, sequence number, tries}
-- needs: seen
for _, link in ipairs(ARGS[1]) do
  local queue, host, group, key, label, digest, blob, number, tries = unpack(link)
  local seq = sequence(number)
  call('SADD', ROOT .. 'queues', queue)
  see(digest, seq .. struct.pack('>d', key))
  call('HSET', ROOT .. 'failed:' .. queue, seq,
       cmsgpack.pack({host, group, key, make_member(seq, tries, label, blob)}))
  if number >= tonumber(call('HGET', META, 'seq') or 0) then
    call('HSET', META, 'seq', number + 1)
  end
end
seen_save()
return 1
