-- Add the statements of a document to the table of statements, or look them up.
-- ARGS: tag of the document (3 bytes), statements {offset of the bucket, tag (5 bytes)}, 1 to add or 0
-- Returns for each 1 if no other document made it, else 0.
local PLACE, BUCKET = 8, 32
local key = ROOT .. 'said'
local document, new = ARGS[1], {}
for number, statement in ipairs(ARGS[2]) do
  local offset, sign = statement[1], statement[2]
  local bucket = call('GETRANGE', key, offset, offset + BUCKET - 1)
  local own, others = false, false
  for first = 1, #bucket, PLACE do
    local who = string.sub(bucket, first + #sign, first + PLACE - 1)
    if string.sub(bucket, first, first + #sign - 1) == sign and who ~= '\0\0\0' then
      if who == document then own = true else others = true end
    end
  end
  if ARGS[3] == 1 and not own and not others then
    call('SETRANGE', key, offset, sign .. document .. string.sub(bucket, 1, BUCKET - PLACE))
  end
  new[number] = others and 0 or 1
end
return new
