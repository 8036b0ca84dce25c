-- Record that links of other shards are asking their origins for these paths.
-- ARGS: {origin, path} for each
-- needs: mirrors
for _, asked in ipairs(ARGS[1]) do
  local origin, path = asked[1], asked[2]
  local entries, mine = given(path), false
  for i = 1, #entries, 2 * PART do
    mine = mine or string.sub(entries, i, i + PART - 1) == origin
  end
  if not mine then keep_given(path, entries .. origin .. ASKED, entries ~= '') end
end
return 1
