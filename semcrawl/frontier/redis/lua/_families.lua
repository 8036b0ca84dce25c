-- Families: links of one document that look alike (see relevance/families.py). When the first few of
-- a family were barren, the others are withheld when their turn comes. The 1st, 2nd, 4th, 8th … of
-- these are fetched all the same, to detect a family of which only some can be fetched.

local TRIES = OPTIONS.family_tries or 0
local WITHHOLDING = ROOT .. 'withholding'
local NAME = 8               -- characters of a family's name
-- Bytes before that name at the end of a blob: msgpack of "s": NAME
local MARK = '\161s' .. string.char(160 + NAME)

local function family_key(name) return ROOT .. 'family:' .. name end
local function withheld_key(name) return ROOT .. 'withheld:' .. name end

-- The family of a link that was neither redirected nor requested before, or nil.
local function family_of(member)
  local last = string.byte(member, SEQ + 1) < LOST and -1 or -1 - SEQ
  if string.sub(member, last - NAME - 2, last - NAME) ~= MARK then return nil end
  return string.sub(member, last - NAME + 1, last)
end

local function is_barren(name)
  local r = call('HMGET', family_key(name), 'useful', 'barren')
  if TRIES <= 0 then return false end
  return tonumber(r[1] or 0) == 0 and tonumber(r[2] or 0) >= TRIES
end

-- Whether to withhold a link of this family, now that its turn has come.
local function is_withheld(name)
  if not is_barren(name) then return false end
  local met = call('HINCRBY', family_key(name), 'met', '1')
  while met > 1 and met % 2 == 0 do met = met / 2 end
  return met ~= 1
end

local function withhold(name, queue, host, group, key, member)
  call('HSET', withheld_key(name), string.sub(member, 1, SEQ),
       cmsgpack.pack({queue, host, group, key, member}))
  call('SADD', WITHHOLDING, name)
end
