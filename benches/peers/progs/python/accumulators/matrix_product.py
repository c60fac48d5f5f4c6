SIZE = 72

def next_random(x):
    return (x * 1366 + 150889) % 714025

def random_matrix(seed):
    matrix = []
    x = seed
    for _ in range(SIZE):
        row = []
        for _ in range(SIZE):
            row.append(x % 101)
            x = next_random(x)
        matrix.append(row)
    return matrix

def product(a, b):
    result = []
    for i in range(SIZE):
        row = []
        for j in range(SIZE):
            total = 0
            for k in range(SIZE):
                total += a[i][k] * b[k][j]
            row.append(total)
        result.append(row)
    return result

def main():
    check = 0
    for row in product(random_matrix(1), random_matrix(2)):
        for x in row:
            check = (check * 31 + x) % 1000003
    return check
