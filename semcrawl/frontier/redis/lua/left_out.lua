-- Forget links left out that were added after all, for example as another page led to them.
-- ARGS: number of the first bucket to read (from 0), number of buckets
-- Returns the number of the next bucket, or nil after the last.
-- needs: left
local first, last = ARGS[1], math.min(ARGS[1] + ARGS[2], LEFT_BUCKETS) - 1
if tonumber(call('HGET', META, 'left') or 0) == 0 then return nil end
local gone = 0
for n = first, last do
  local flat = call('HGETALL', left_key(n))
  for i = 1, #flat, 2 do
    if is_seen(flat[i]) then
      call('HDEL', left_key(n), flat[i])
      if call('HINCRBY', LEFT_HOSTS, flat[i + 1], '-1') <= 0 then
        call('HDEL', LEFT_HOSTS, flat[i + 1])
        call('HDEL', LEFT_FIRST, flat[i + 1])
      end
      gone = gone + 1
    end
  end
end
if gone > 0 then call('HINCRBY', META, 'left', whole(-gone)) end
return last + 1 < LEFT_BUCKETS and last + 1 or nil
