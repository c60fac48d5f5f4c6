CAPACITY = 32
REQUESTS = 20000

def next_random(x):
    return (x * 1366 + 150889) % 714025

# Three of four requests are for few keys, so that most of them hit.
def requested_key(x):
    return x % 1009 if x % 4 == 0 else x % 23

def evict(entries):
    oldest = min(entries, key=lambda key: entries[key]["used"])
    entries.pop(oldest)

def request(cache, key, tick):
    entries = cache["entries"]
    if key in entries:
        cache["hits"] += 1
        entries[key]["used"] = tick
    else:
        cache["misses"] += 1
        if len(entries) >= CAPACITY:
            evict(entries)
        entries[key] = {"value": key * key, "used": tick}

def main():
    cache = {"entries": {}, "hits": 0, "misses": 0}
    x = 1
    for tick in range(REQUESTS):
        request(cache, requested_key(x), tick)
        x = next_random(x)
    kept = 0
    for entry in cache["entries"].values():
        kept += entry["value"]
    return {"hits": cache["hits"], "misses": cache["misses"], "kept": kept}
