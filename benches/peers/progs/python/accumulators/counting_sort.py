SIZE = 50000
SPAN = 997

def next_random(x):
    return (x * 1366 + 150889) % 714025

def numbers():
    xs = []
    x = 1
    for _ in range(SIZE):
        xs.append(x % SPAN)
        x = next_random(x)
    return xs

def counting_sort(xs):
    counts = [0] * SPAN
    for x in xs:
        counts[x] += 1
    result = []
    for x, n in enumerate(counts):
        result.extend([x] * n)
    return result

def main():
    check = 0
    for x in counting_sort(numbers()):
        check = (check * 31 + x) % 1000003
    return check
