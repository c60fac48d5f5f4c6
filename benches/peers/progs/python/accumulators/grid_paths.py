SIZE = 220

def next_random(x):
    return (x * 1366 + 150889) % 714025

def make_walls():
    walls = set()
    x = 1
    for row in range(SIZE):
        for column in range(SIZE):
            if x % 11 == 0:
                walls.add((row, column))
            x = next_random(x)
    return walls

def main():
    walls = make_walls()
    paths = {}
    for row in range(SIZE):
        for column in range(SIZE):
            if row == 0 and column == 0:
                count = 1
            elif (row, column) in walls:
                count = 0
            else:
                count = (paths.get((row - 1, column), 0) + paths.get((row, column - 1), 0)) % 1000000007
            paths[(row, column)] = count
    reached = len([count for count in paths.values() if count > 0])
    return {"paths": paths[(SIZE - 1, SIZE - 1)], "reached": reached}
