-- Withhold leased links if a mirror of their origin gave their path or is being asked for it, except
-- the 1st, 2nd, 4th, 8th … of them. Record the paths of the others as being asked for.
-- ARGS: links {lease id, origin, path}
-- Returns the positions (from 0) of the withheld links.
-- needs: mirrors
local withheld_at = {}
for i, link in ipairs(ARGS[1]) do
  local id, origin, path = link[1], link[2], link[3]
  local record = COPIES > 0 and lease_record(id)
  if record then
    local entries, name, asked, mine = given(path), nil, nil, false
    for j = 1, #entries, 2 * PART do
      local o = string.sub(entries, j, j + PART - 1)
      if o == origin then
        mine = true
      elseif call('SISMEMBER', MIRRORED, pair(o, origin)) == 1 then
        if string.sub(entries, j + PART, j + 2 * PART - 1) == ASKED then
          asked = pair(o, origin)
        else
          name = pair(o, origin)
        end
      end
    end
    if (name or asked) and is_withheld(name or asked) then
      -- nothing was sent, so the host needs no delay
      if call('HGET', busy_key(record.host), id) == '0' then
        call('HDEL', busy_key(record.host), id)
        cool(record.host, NOW)
      end
      forget_lease(id, record)
      file_availability(record.host)
      withhold(name or asked, record.queue, record.host, record.group, record.key, record.member)
      if not name then
        local links = pending(path)
        links[#links + 1] = {asked, string.sub(record.member, 1, SEQ)}
        keep_pending(path, links)
      end
      withheld_at[#withheld_at + 1] = i - 1
    elseif not mine then
      keep_given(path, entries .. origin .. ASKED, entries ~= '')
    end
  end
end
return answer(withheld_at)
