-- Drop the worst links of a shard, as the crawl has too many.
-- ARGS: how many at most, largest value of a group that may lose links (a text; or false)
-- Returns how many were dropped, and the value of the worst group that is left (a text), or nil.
-- needs: dropping
local dropped = drop_worst(ARGS[1], ARGS[2] and tonumber(ARGS[2]))
local _, _, _, score = worst()
return {dropped, score and num(score)}
