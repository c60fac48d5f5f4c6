LIMIT = 200000

def sieve():
    prime = [True] * (LIMIT + 1)
    prime[0] = False
    prime[1] = False
    for n in range(2, LIMIT + 1):
        if n * n > LIMIT:
            break
        if prime[n]:
            for multiple in range(n * n, LIMIT + 1, n):
                prime[multiple] = False
    return prime

def main():
    prime = sieve()
    primes = [n for n in range(LIMIT + 1) if prime[n]]
    return {"count": len(primes), "last": primes[-1]}
