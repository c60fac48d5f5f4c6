local limit = 200000

local prime = {false}
for n = 2, limit do prime[n] = true end
for n = 2, math.floor(math.sqrt(limit)) do
  if prime[n] then
    for multiple = n * n, limit, n do prime[multiple] = false end
  end
end

local count, last = 0, 0
for n = 2, limit do
  if prime[n] then
    count = count + 1
    last = n
  end
end
return {count = count, last = last}
