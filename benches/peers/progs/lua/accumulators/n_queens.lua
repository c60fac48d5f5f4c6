local size = 9

local columns, rising, falling = {}, {}, {}

local function solutions(row)
  if row == size then return 1 end
  local count = 0
  for column = 0, size - 1 do
    local up, down = row + column, row - column
    if not (columns[column] or rising[up] or falling[down]) then
      columns[column], rising[up], falling[down] = true, true, true
      count = count + solutions(row + 1)
      columns[column], rising[up], falling[down] = nil, nil, nil
    end
  end
  return count
end

return solutions(0)
