-- Record bodies, and paths without one, and find out which origins are mirrors.
-- ARGS: bodies {origin, its URL, path, body}, in vain {origin, path}, number of mirrors known
-- Returns {1 if withheld links must be restored, else 0; number of mirrors; if it changed, the pairs
-- of URLs of mirrored origins}.
-- needs: mirrors
local any = 0

-- Compare the bodies that two origins gave by one path.
local function compare(a, b, same, body)
  local name = pair(a, b)
  local known = call('HGET', PAIRS, name)
  if known == 'X' then return end
  if not known and call('HLEN', PAIRS) >= MOST_PAIRS then return end
  if not same then
    call('HSET', PAIRS, name, 'X')
    if call('SREM', MIRRORED, name) == 1 then
      call('HDEL', family_key(name), 'mirror')
      call('HINCRBY', META, 'mirrors', '1')
      any = 1
    end
    return
  end
  known = known or ''
  if has_part(known, body) or call('SISMEMBER', MIRRORED, name) == 1 then return end
  known = known .. body
  call('HSET', PAIRS, name, known)
  if #known >= COPIES * PART then
    call('HSET', family_key(name), 'mirror', '1',
      'document', call('HGET', ORIGINS, string.sub(name, 1, PART)) or '',
      'pattern', call('HGET', ORIGINS, string.sub(name, PART + 1)) or '')
    call('SADD', MIRRORED, name)
    call('HINCRBY', META, 'mirrors', '1')
  end
end

for _, body in ipairs(ARGS[1]) do
  local origin, url, path, content = body[1], body[2], body[3], body[4]
  local entries = given(path)
  call('HSETNX', ORIGINS, origin, url)
  for i = 1, #entries, 2 * PART do
    local o = string.sub(entries, i, i + PART - 1)
    local b = string.sub(entries, i + PART, i + 2 * PART - 1)
    if o ~= origin and b ~= ASKED then compare(origin, o, b == content, content) end
  end
  keep_given(path, without(entries, origin) .. origin .. content, entries ~= '')
  local rest, links = {}, pending(path)
  for _, link in ipairs(links) do
    if not has_part(link[1], origin) then rest[#rest + 1] = link end
  end
  if #rest < #links then keep_pending(path, rest) end
end
for _, vain in ipairs(ARGS[2]) do
  local origin, path = vain[1], vain[2]
  local entries = given(path)
  if entries ~= '' then keep_given(path, without(entries, origin, true), true) end
  local rest, links = {}, pending(path)
  for _, link in ipairs(links) do
    if has_part(link[1], origin) then put_back(link[1], link[2]) else rest[#rest + 1] = link end
  end
  if #rest < #links then keep_pending(path, rest) end
end
local number = tonumber(call('HGET', META, 'mirrors') or 0)
if number == ARGS[3] then return answer({any, number}) end
local found = {}
for _, name in ipairs(call('SMEMBERS', MIRRORED)) do
  local r = call('HMGET', family_key(name), 'document', 'pattern')
  if r[1] and r[2] then found[#found + 1] = {r[1], r[2]} end
end
return answer({any, number, found})
