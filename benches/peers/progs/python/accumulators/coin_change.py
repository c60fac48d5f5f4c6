COINS = [1, 2, 5, 10, 20, 50, 100, 200]
AMOUNT = 50000

def main():
    ways = [1] + [0] * AMOUNT
    for coin in COINS:
        for total in range(coin, AMOUNT + 1):
            ways[total] = (ways[total] + ways[total - coin]) % 1000000007
    return ways[AMOUNT]
