-- Put a host before others, after them, or among them.
-- ARGS: host, its turn; 0: among them
-- needs: order
local host, turn = ARGS[1], ARGS[2]
if turn == 0 then
  call('HDEL', TURNS, host)
else
  call('HSET', TURNS, host, num(turn))
end
file_turn(host)
return 1
