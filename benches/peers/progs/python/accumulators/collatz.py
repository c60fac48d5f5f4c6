LIMIT = 30000

def chain_length(lengths, n):
    steps = 0
    while n not in lengths:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps + lengths[n]

def main():
    lengths = {1: 1}
    for n in range(2, LIMIT + 1):
        lengths[n] = chain_length(lengths, n)
    return {"longest": max(lengths.values()), "total": sum(lengths.values())}
