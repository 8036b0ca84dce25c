-- Give waiting links new keys inside their group.
-- ARGS: links {queue, host, group, digest, key}
-- Returns how many of them wait.
local changed, moved = {}, 0

-- The member of a sequence number among those of equal score: they are ordered by it.
local function find(key, seq, score)
  local low = call('ZCOUNT', key, '-inf', '(' .. score)
  local high = low + call('ZCOUNT', key, score, score) - 1
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local member = call('ZRANGE', key, middle, middle)[1]
    local s = string.sub(member, 1, SEQ)
    if s == seq then return member end
    if before(s, seq) then low = middle + 1 else high = middle - 1 end
  end
end

for _, link in ipairs(ARGS[1]) do
  local queue, host, group, digest, key = link[1], link[2], link[3], link[4], link[5]
  local bucket = seen_key(digest)
  local where = call('HGET', bucket, digest)
  if where then
    if #where ~= SEQ + 8 then corrupt(bucket, 'no place of a link') end
    local seq = string.sub(where, 1, SEQ)
    local wait = wait_key(queue, host, group)
    local member = find(wait, seq, num(struct.unpack('>d', where, SEQ + 1)))
    if member then
      call('ZADD', wait, num(key), member)
      call('HSET', bucket, digest, seq .. struct.pack('>d', key))
      changed[wait] = {queue, host, group}
      moved = moved + 1
    end
  end
end
for _, part in pairs(changed) do file_wait(part[1], part[2], part[3]) end
return moved
