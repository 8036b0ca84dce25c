-- Record verdicts on families. A redirect to a known address that another link of the family led to
-- before is barren. If that other link was the only useful one, it does not count as useful either, as
-- a common target of all links is not what they name.
-- ARGS: answers {name, 'useful', 'barren' or 'unknown', digest of the redirect's target or ''}
-- Returns 1 if withheld links must be restored, else 0.
-- needs: families
local any = 0
for _, answer in ipairs(ARGS[1]) do
  local name, what, led_to = answer[1], answer[2], answer[3]
  local key = family_key(name)
  if call('EXISTS', key) == 1 then
    if led_to ~= '' then
      local r = call('HMGET', key, 'led', 'only', 'useful')
      if what ~= 'useful' and r[1] == led_to then
        what = 'barren'
        if r[2] == led_to and r[3] == '1' then
          call('HSET', key, 'useful', '0')
          call('HINCRBY', key, 'unknown', '1')
        end
      elseif what == 'useful' and tonumber(r[3] or 0) == 0 then
        call('HSET', key, 'only', led_to)
      end
      call('HSET', key, 'led', led_to)
    end
    call('HINCRBY', key, what, '1')
    if what == 'useful' and call('SISMEMBER', WITHHOLDING, name) == 1 then any = 1 end
  end
end
return any
