local size, span = 50000, 997

local function next_random(x)
  return (x * 1366 + 150889) % 714025
end

local function numbers()
  local xs, x = {}, 1
  for i = 1, size do
    xs[i] = x % span
    x = next_random(x)
  end
  return xs
end

local function counting_sort(xs)
  local counts = {}
  for x = 0, span - 1 do counts[x] = 0 end
  for _, x in ipairs(xs) do counts[x] = counts[x] + 1 end
  local sorted = {}
  for x = 0, span - 1 do
    for _ = 1, counts[x] do sorted[#sorted + 1] = x end
  end
  return sorted
end

local check = 0
for _, x in ipairs(counting_sort(numbers())) do
  check = (check * 31 + x) % 1000003
end
return check
