-- The time until a link can be taken.
-- needs: leases

-- Microseconds until a take may give a link of these queues, if none is ready now; nil if none waits. At
-- most the poll time while hosts may wait for downloads, which can end at any time.
local function wait_for(queues, poll)
  local soonest, waits
  for _, queue in ipairs(queues) do
    if call('HLEN', ROOT .. 'hosts:' .. queue) > 0 then waits = true end
    local delayed = call('ZRANGE', ROOT .. 'delayed:' .. queue, '0', '0', 'WITHSCORES')[2]
    if delayed then
      waits = true
      soonest = math.min(soonest or math.huge, tonumber(delayed) - NOW)
    end
  end
  if not waits then return nil end
  if call('HLEN', LEASE) > 0 or call('EXISTS', ERRANDS) == 1 then
    soonest = math.min(soonest or math.huge, poll)
  end
  local start = 0
  while true do
    local page = call('ZRANGE', COOLING, start, start + 99, 'WITHSCORES')
    for i = 1, #page, 2 do
      if soonest and tonumber(page[i + 1]) - NOW >= soonest then return math.max(soonest, 1) end
      for _, queue in ipairs(queues) do
        if call('HEXISTS', ROOT .. 'hosts:' .. queue, page[i]) == 1 then
          return math.max(math.ceil(tonumber(page[i + 1]) - NOW), 1)
        end
      end
    end
    if #page < 200 then return math.max(soonest or poll, 1) end
    start = start + 100
  end
end

-- A shard's best link of these queues: {its rank, or false; without one, the microseconds until one may
-- be ready, or false if none waits}
local function view(queues, poll)
  local _, _, _, score, place = best(queues)
  if score then return {standing(score, place), false} end
  return {false, wait_for(queues, poll) or false}
end
