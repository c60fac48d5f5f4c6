local nodes, edges = 20011, 24000

local function next_random(x)
  return (x * 1366 + 150889) % 714025
end

local parents, sizes, groups = {}, {}, nodes
for node = 0, nodes - 1 do
  parents[node] = node
  sizes[node] = 1
end

local function find_root(node)
  while parents[node] ~= node do node = parents[node] end
  return node
end

local function attach(child, root)
  parents[child] = root
  sizes[root] = sizes[root] + sizes[child]
  groups = groups - 1
end

local function connect(a, b)
  a, b = find_root(a), find_root(b)
  if a == b then return end
  if sizes[a] < sizes[b] then attach(a, b) else attach(b, a) end
end

local x = 1
for _ = 1, edges do
  local y = next_random(x)
  connect(x % nodes, y % nodes)
  x = next_random(y)
end

local largest = 0
for node = 0, nodes - 1 do largest = math.max(largest, sizes[node]) end
return {groups = groups, largest = largest}
