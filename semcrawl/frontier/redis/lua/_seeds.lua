-- Pending seeds: a worker took them from a list and has not finished them.

local SEED_LISTS = ROOT .. 'lists'
local function pending_key(list) return ROOT .. 'pending:' .. list end

local function pending_member(worker, seed) return worker .. '\0' .. seed end

-- Worker and seed of a member.
local function pending_parts(list, member)
  local zero = string.find(member, '\0', 1, true)
  if not zero then corrupt(pending_key(list), 'a seed without its taker') end
  return string.sub(member, 1, zero - 1), string.sub(member, zero + 1)
end
