-- Count links that are left out, each once.
-- ARGS: links {digest, reason and host with a space between, URL}, limit of counted links
-- needs: left
local kept = tonumber(call('HGET', META, 'left') or 0)
local before_it = kept
for _, link in ipairs(ARGS[1]) do
  local digest, name = link[1], link[2]
  local key = left_key(hash(digest) % LEFT_BUCKETS)
  if kept >= ARGS[2] then
    if call('HEXISTS', key, digest) == 0 then call('HSET', META, 'leftfull', '1') end
  elseif call('HSETNX', key, digest, name) == 1 then
    kept = kept + 1
    if call('HINCRBY', LEFT_HOSTS, name, '1') == 1 then call('HSETNX', LEFT_FIRST, name, link[3]) end
  end
end
if kept > before_it then call('HSET', META, 'left', whole(kept)) end
return 1
