-- Register families of links to be added.
-- ARGS: families {name, document, pattern}
-- needs: families
for _, family in ipairs(ARGS[1]) do
  call('HSET', family_key(family[1]), 'document', family[2], 'pattern', family[3])
end
return 1
