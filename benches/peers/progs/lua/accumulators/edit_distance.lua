local function next_random(x)
  return (x * 1366 + 150889) % 714025
end

local function random_text(seed, length)
  local letters, x = {}, seed
  for i = 1, length do
    letters[i] = ("acgt"):sub(x % 4 + 1, x % 4 + 1)
    x = next_random(x)
  end
  return table.concat(letters)
end

local function edit_distance(a, b)
  local row = {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local new_row = {[0] = i}
    for j = 1, #b do
      local cost = a:sub(i, i) == b:sub(j, j) and 0 or 1
      new_row[j] = math.min(new_row[j - 1] + 1, row[j] + 1, row[j - 1] + cost)
    end
    row = new_row
  end
  return row[#b]
end

return edit_distance(random_text(1, 250), random_text(2, 300))
