local limit = 30000

local lengths = {1}

local function chain_length(n)
  local steps = 0
  while not lengths[n] do
    -- LuaJIT has no `//`.
    if n % 2 == 0 then n = math.floor(n / 2) else n = 3 * n + 1 end
    steps = steps + 1
  end
  return steps + lengths[n]
end

local longest, total = 1, 1
for n = 2, limit do
  lengths[n] = chain_length(n)
  longest = math.max(longest, lengths[n])
  total = total + lengths[n]
end
return {longest = longest, total = total}
