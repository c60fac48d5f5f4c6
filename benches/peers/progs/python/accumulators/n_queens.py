SIZE = 9

def solutions(row, columns, rising, falling):
    if row == SIZE:
        return 1
    count = 0
    for column in range(SIZE):
        up = row + column
        down = row - column + SIZE - 1
        if not (columns[column] or rising[up] or falling[down]):
            columns[column], rising[up], falling[down] = True, True, True
            count += solutions(row + 1, columns, rising, falling)
            columns[column], rising[up], falling[down] = False, False, False
    return count

def main():
    return solutions(0, [False] * SIZE, [False] * (2 * SIZE), [False] * (2 * SIZE))
