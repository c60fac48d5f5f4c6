local size = 220

local function next_random(x)
  return (x * 1366 + 150889) % 714025
end

local function key(row, column)
  return row * size + column
end

local walls, x = {}, 1
for row = 0, size - 1 do
  for column = 0, size - 1 do
    if x % 11 == 0 then walls[key(row, column)] = true end
    x = next_random(x)
  end
end

local paths, reached = {}, 0
for row = 0, size - 1 do
  for column = 0, size - 1 do
    local count
    if row == 0 and column == 0 then
      count = 1
    elseif walls[key(row, column)] then
      count = 0
    else
      local above = row > 0 and paths[key(row - 1, column)] or 0
      local left = column > 0 and paths[key(row, column - 1)] or 0
      count = (above + left) % 1000000007
    end
    paths[key(row, column)] = count
    if count > 0 then reached = reached + 1 end
  end
end
return {paths = paths[key(size - 1, size - 1)], reached = reached}
