SIZE = 120

def next_random(x):
    return (x * 1366 + 150889) % 714025

def make_grid():
    grid = []
    x = 1
    for _ in range(SIZE):
        row = []
        for _ in range(SIZE):
            row.append(x % 4 > 0)
            x = next_random(x)
        grid.append(row)
    return grid

def is_open(grid, row, column):
    return 0 <= row < SIZE and 0 <= column < SIZE and grid[row][column]

def search(grid, start):
    distances = {start: 0}
    frontier = [start]
    distance = 1
    while frontier:
        found = []
        for row, column in frontier:
            for cell in [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]:
                if is_open(grid, cell[0], cell[1]) and cell not in distances:
                    distances[cell] = distance
                    found.append(cell)
        frontier = found
        distance += 1
    return distances

def main():
    distances = search(make_grid(), (0, 0))
    farthest = max(distances.values())
    return {"reached": len(distances), "farthest": farthest, "total": sum(distances.values())}
