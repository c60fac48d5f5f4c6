NODES = 20011
EDGES = 24000

def next_random(x):
    return (x * 1366 + 150889) % 714025

def find_root(parents, node):
    while parents[node] != node:
        node = parents[node]
    return node

def attach(forest, child, root):
    forest["parents"][child] = root
    forest["sizes"][root] += forest["sizes"][child]
    forest["groups"] -= 1

def connect(forest, a, b):
    a = find_root(forest["parents"], a)
    b = find_root(forest["parents"], b)
    if a == b:
        return
    if forest["sizes"][a] < forest["sizes"][b]:
        attach(forest, a, b)
    else:
        attach(forest, b, a)

def main():
    forest = {"parents": list(range(NODES)), "sizes": [1] * NODES, "groups": NODES}
    x = 1
    for _ in range(EDGES):
        y = next_random(x)
        connect(forest, x % NODES, y % NODES)
        x = next_random(y)
    return {"groups": forest["groups"], "largest": max(forest["sizes"])}
