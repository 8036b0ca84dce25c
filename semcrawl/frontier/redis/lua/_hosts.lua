-- Hosts: their availability, and their turns.

-- Crawl delay (microseconds) and concurrency of a host.
local function pace(host)
  local p = call('HGET', PACE, host)
  if p then
    local delay, concurrency = string.match(p, '^(%d+) (%d+)$')
    if not delay then corrupt(PACE, 'no pace of ' .. host) end
    return tonumber(delay), tonumber(concurrency)
  end
  return OPTIONS.delay, OPTIONS.concurrency
end

-- A host that does not answer, or blocks us, rests; after each rest one link is a probe.
local DOWN, RESTS, GOOD = ROOT .. 'down', ROOT .. 'rests', ROOT .. 'good'
local STOOD_STILL = 180000000  -- time without a probe that does not count as being down (µs)

-- When a host went down, until when it rests, the length of the rest, and why; nil if it is not down.
local function down_record(host)
  local record = call('HGET', DOWN, host)
  if not record then return nil end
  local since, till, rest, why = string.match(record, '^(%d+) (%d+) (%d+) (%S+)$')
  if not since then corrupt(DOWN, 'no rest of ' .. host) end
  return tonumber(since), tonumber(till), tonumber(rest), why
end

-- Errands are requests that are not for a link: a robots.txt, a JSON-LD context. They have entries in
-- busy: like links. While they wait for their turn, the entry has a mark with their number in the
-- queue, and the host's links wait too.
local ERRANDS = ROOT .. 'errands'

local function is_waiting(mark) return string.sub(mark, 1, 1) == 'w' end

-- The first errand in a host's queue (or nil), the number of downloads in flight, and whether the host
-- is held for a request that has not started.
local function line(host)
  local first, number
  local sent, held = 0, false
  local marks = call('HGETALL', busy_key(host))
  for i = 1, #marks, 2 do
    if is_waiting(marks[i + 1]) then
      local n = tonumber(string.sub(marks[i + 1], 2))
      if not number or n < number then first, number = marks[i], n end
    else
      sent = sent + 1
      held = held or marks[i + 1] == '0'
    end
  end
  return first, sent, held
end

local function available(host)
  local till = call('ZSCORE', COOLING, host)
  if till and tonumber(till) > NOW then return false end
  local busy = call('HLEN', busy_key(host))
  if busy == 0 then return true end
  local _, concurrency = pace(host)
  if busy >= concurrency or call('HEXISTS', DOWN, host) == 1 then return false end
  return call('EXISTS', ERRANDS) == 0 or not line(host)
end

-- Fairness among hosts of equal value: start-time fair queueing. A host's turn is the virtual time of
-- its next service; each take adds 1 / weight.
local TURNS, YIELD, REST = ROOT .. 'turns', ROOT .. 'yield', ROOT .. 'rest'

local function turn_time(host)
  local own = tonumber(call('HGET', TURNS, host) or 0)
  return math.max(own, tonumber(call('HGET', META, 'turn') or 0))
end

-- Whether a host gave nothing yet.
local function untried(host) return call('HEXISTS', GOOD, host) == 0 end

-- From RANKED on, a turn is that of a host which comes before or after others, as an operator said.
local RANKED = 1e307

-- The turn of such a host; nil for others.
local function rank(host)
  local own = tonumber(call('HGET', TURNS, host) or 0)
  return math.abs(own) >= RANKED and own or nil
end

local LATER = string.rep('\255', 8)
-- The turn of all hosts without fairness in frontiers of semcrawl 0.3, which nothing can precede.
local OLD_TURN = string.rep('\0', 8)

local function turn(host)
  local ranked = rank(host)
  if ranked then return sortable(ranked) end
  if UNTRIED_LAST and untried(host) then return LATER end
  if OPTIONS.fairness == 'off' then return ZERO end
  return sortable(tonumber(call('HGET', TURNS, host) or call('HGET', META, 'turn') or 0))
end

local function host_yield(host)
  local y = call('HGET', YIELD, host)
  if not y then return 0, 0, 0 end
  local fetches, targets, barren = string.match(y, '^(%d+) (%d+) (%d+)$')
  if not fetches then corrupt(YIELD, 'no yield of ' .. host) end
  return tonumber(fetches), tonumber(targets), tonumber(barren)
end

-- Move a host's turn after a take, the further the less it yields.
local function move_turn(host)
  if OPTIONS.fairness == 'off' or rank(host) then return end
  local t, weight = turn_time(host), 1
  if OPTIONS.fairness == 'yield' then
    local fetches, targets = host_yield(host)
    weight = (targets + 1) / (fetches + 2)
  end
  call('HSET', META, 'turn', num(t))
  call('HSET', TURNS, host, num(t + 1 / weight))
end

-- Let a host cool until a time (microseconds), and until its rest is over.
local function cool(host, till)
  local rest = call('HGET', REST, host)
  if rest then
    if tonumber(rest) > NOW then
      till = math.max(till, tonumber(rest))
    else
      call('HDEL', REST, host)
    end
  end
  if till > NOW then
    call('ZADD', COOLING, num(till), host)
  else
    call('ZREM', COOLING, host)
  end
end
