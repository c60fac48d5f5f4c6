local size = 72

local function next_random(x)
  return (x * 1366 + 150889) % 714025
end

local function random_matrix(seed)
  local matrix, x = {}, seed
  for i = 1, size do
    matrix[i] = {}
    for j = 1, size do
      matrix[i][j] = x % 101
      x = next_random(x)
    end
  end
  return matrix
end

local function product(a, b)
  local result = {}
  for i = 1, size do
    local row = {}
    for j = 1, size do
      local sum = 0
      for k = 1, size do sum = sum + a[i][k] * b[k][j] end
      row[j] = sum
    end
    result[i] = row
  end
  return result
end

local check = 0
for _, row in ipairs(product(random_matrix(1), random_matrix(2))) do
  for _, x in ipairs(row) do check = (check * 31 + x) % 1000003 end
end
return check
