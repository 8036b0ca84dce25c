-- Drop the worst links of a shard, as too many links wait.
-- ARGS: most links to drop, largest value of a group that may lose links (a text; or false)
-- Returns how many were dropped, and the value of the worst remaining group (a text), or nil.
-- needs: dropping
local dropped = drop_worst(ARGS[1], ARGS[2] and tonumber(ARGS[2]))
local _, _, _, score = worst()
return {dropped, score and num(score)}
