-- Put links in, those already seen left out.
-- ARGS: parts {queue, host, group, links {index, key, label, digest, blob}}, limit of waiting links
-- Returns the indices (from 0) of the new ones.
local fresh = {}
local total = 0
for _, part in ipairs(ARGS[1]) do total = total + #part[4] end
local base = call('HINCRBY', META, 'seq', total) - total
for _, part in ipairs(ARGS[1]) do
  local queue, host, group, added, labels, n = part[1], part[2], part[3], {}, {}, 0
  for _, link in ipairs(part[4]) do
    local index, key, label, digest, blob = link[1], link[2], link[3], link[4], link[5]
    local seq = sequence(base + index)
    if see(digest, seq .. struct.pack('>d', key)) then
      fresh[#fresh + 1] = index
      added[#added + 1] = num(key)
      added[#added + 1] = make_member(seq, 0, label, blob)
      labels[label] = (labels[label] or 0) + 1
      n = n + 1
    end
  end
  if n > 0 then
    call('SADD', ROOT .. 'queues', queue)
    for i = 1, #added, 1000 do
      call('ZADD', wait_key(queue, host, group), unpack(added, i, math.min(i + 999, #added)))
    end
    for label, m in pairs(labels) do count(queue, label, m) end
    count_host(queue, host, n)
    file_wait(queue, host, group)
  end
end
seen_save()
return fresh
