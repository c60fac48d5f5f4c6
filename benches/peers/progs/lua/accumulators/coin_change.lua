local coins = {1, 2, 5, 10, 20, 50, 100, 200}
local amount = 50000

local ways = {[0] = 1}
for total = 1, amount do ways[total] = 0 end
for _, coin in ipairs(coins) do
  for total = coin, amount do
    ways[total] = (ways[total] + ways[total - coin]) % 1000000007
  end
end
return ways[amount]
