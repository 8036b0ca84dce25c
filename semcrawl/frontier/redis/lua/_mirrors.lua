-- Mirrors: two origins that give the same bytes by the same paths (see crawl/withholding.py). If one
-- gave a path or is being asked for it, the other's link with that path is withheld like one of a
-- barren family (see _families.lua), under a name made of both origins' names.
-- needs: families, leases

local COPIES = OPTIONS.mirror_copies or 0
local BODIES, PAIRS, ORIGINS = ROOT .. 'bodies', ROOT .. 'pairs', ROOT .. 'origins'
local MIRRORED, COPY = ROOT .. 'mirrored', ROOT .. 'copies'
local PART = 8               -- characters of an origin's, path's and body's name
local ASKED = '=asked=='     -- replaces a body that is being asked for
local AT_PATH = 8            -- most origins of a path
local MOST = 200000          -- most paths
local MOST_PAIRS = 50000     -- most pairs of origins

local function pair(a, b) return before(a, b) and a .. b or b .. a end

local function has_part(names, part)
  for i = 1, #names, PART do
    if string.sub(names, i, i + PART - 1) == part then return true end
  end
  return false
end

local function given(path) return call('HGET', BODIES, path) or '' end

-- Store the entries of a path, if there is room.
local function keep_given(path, entries, known)
  if entries == '' then
    call('HDEL', BODIES, path)
  elseif #entries <= 2 * PART * AT_PATH and (known or call('HLEN', BODIES) < MOST) then
    call('HSET', BODIES, path, entries)
  end
end

-- The entries of a path without those of an origin, or without those that are being asked for.
local function without(entries, origin, asked_only)
  local rest = ''
  for i = 1, #entries, 2 * PART do
    local o = string.sub(entries, i, i + PART - 1)
    local b = string.sub(entries, i + PART, i + 2 * PART - 1)
    local gone = (not origin or o == origin) and (not asked_only or b == ASKED)
    if not gone then rest = rest .. o .. b end
  end
  return rest
end

-- Links that were withheld as a mirror was being asked for their path.
local function pending(path)
  local r = call('HGET', COPY, path)
  return r and cmsgpack.unpack(r) or {}
end
local function keep_pending(path, links)
  if #links == 0 then call('HDEL', COPY, path)
  else call('HSET', COPY, path, cmsgpack.pack(links)) end
end

local function put_back(name, seq)
  local key = withheld_key(name)
  local r = call('HGET', key, seq)
  if not r then return 0 end
  local ok, link = pcall(cmsgpack.unpack, r)
  if not ok or type(link) ~= 'table' or #link ~= 5 then corrupt(key, 'a withheld link') end
  call('HDEL', key, seq)
  if call('HLEN', key) == 0 then call('SREM', WITHHOLDING, name) end
  count(link[1], member_label(link[5]), 1)
  put(link[1], link[2], link[3], link[4], link[5])
  return 1
end
