local size = 120

local function next_random(x)
  return (x * 1366 + 150889) % 714025
end

local open, distances, x = {}, {}, 1
for row = 1, size do
  open[row], distances[row] = {}, {}
  for column = 1, size do
    open[row][column] = x % 4 > 0
    x = next_random(x)
  end
end

local steps = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}}
local reached, farthest, total = 1, 0, 0
local frontier, distance = {{1, 1}}, 1
distances[1][1] = 0
while #frontier > 0 do
  local found = {}
  for _, cell in ipairs(frontier) do
    for _, step in ipairs(steps) do
      local row, column = cell[1] + step[1], cell[2] + step[2]
      if open[row] and open[row][column] and not distances[row][column] then
        distances[row][column] = distance
        found[#found + 1] = {row, column}
        reached, farthest, total = reached + 1, distance, total + distance
      end
    end
  end
  frontier, distance = found, distance + 1
end
return {reached = reached, farthest = farthest, total = total}
