local capacity, requests = 32, 20000

local function next_random(x)
  return (x * 1366 + 150889) % 714025
end

-- Three of four requests are for few keys, so that most of them hit.
local function requested_key(x)
  if x % 4 == 0 then return x % 1009 end
  return x % 23
end

local entries, count, hits, misses = {}, 0, 0, 0

local function evict()
  local oldest
  for key, entry in pairs(entries) do
    if not oldest or entry.used < entries[oldest].used then oldest = key end
  end
  entries[oldest] = nil
  count = count - 1
end

local function request(key, tick)
  local entry = entries[key]
  if entry then
    hits = hits + 1
    entry.used = tick
  else
    misses = misses + 1
    if count >= capacity then evict() end
    entries[key] = {value = key * key, used = tick}
    count = count + 1
  end
end

local x = 1
for tick = 0, requests - 1 do
  request(requested_key(x), tick)
  x = next_random(x)
end

local kept = 0
for _, entry in pairs(entries) do kept = kept + entry.value end
return {hits = hits, misses = misses, kept = kept}
