local names = {"price", "amount", "tax", "rate", "total", "discount", "x"}

local function next_random(x)
  return (x * 1366 + 150889) % 714025
end

local function statement(x)
  return names[x % 7 + 1] .. " = " .. x % 1009 .. " + " .. names[x % 6 + 1] .. " * (" .. x % 17 .. " - y);"
end

local function make_text()
  local lines, x = {}, 1
  for i = 1, 1000 do
    lines[i] = statement(x)
    x = next_random(x)
  end
  return table.concat(lines, "\n")
end

local function kind_of(ch)
  if ch:match("%a") then return "word" end
  if ch:match("%d") then return "number" end
  if ch:match("%s") then return "space" end
  return "symbol"
end

local function tokenize(text)
  local tokens, current, token = {}, nil, ""
  local function finish()
    if current then
      tokens[#tokens + 1] = {kind = current, text = token}
      current, token = nil, ""
    end
  end
  for i = 1, #text do
    local ch = text:sub(i, i)
    local kind = kind_of(ch)
    if kind == "space" then
      finish()
    elseif kind == "symbol" then
      finish()
      tokens[#tokens + 1] = {kind = "symbol", text = ch}
    elseif kind == current then
      token = token .. ch
    else
      finish()
      current, token = kind, ch
    end
  end
  finish()
  return tokens
end

local result, check = {}, 0
for _, token in ipairs(tokenize(make_text())) do
  result[token.kind] = (result[token.kind] or 0) + 1
  check = (check * 31 + #token.text) % 1000003
end
result.check = check
return result
