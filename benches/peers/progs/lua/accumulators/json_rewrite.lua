local renamed = {name = "title"}

local function build(depth, id)
  local x = (id * 1366 + 150889) % 714025
  local node = {
    id = id,
    name = "item-" .. x,
    secret = x % 9973,
    size = {width = x % 97, height = x % 89},
    tags = {"json", "tag-" .. x % 7},
  }
  if depth > 0 then
    node.children = {}
    for n = 1, 4 do node.children[n] = build(depth - 1, id * 4 + n) end
  end
  return node
end

local function rewrite(node)
  if type(node) == "string" then return node:upper() end
  if type(node) == "number" then return node + 1 end
  local result = {}
  if #node > 0 then
    for i, value in ipairs(node) do result[i] = rewrite(value) end
  else
    for key, value in pairs(node) do
      if key ~= "secret" then result[renamed[key] or key] = rewrite(value) end
    end
  end
  return result
end

local function weight(node)
  if type(node) == "string" then return #node end
  if type(node) == "number" then return node end
  local sum = 0
  for _, value in pairs(node) do sum = sum + weight(value) end
  return sum
end

local tree = rewrite(build(5, 0))
return {title = tree.title, weight = weight(tree)}
