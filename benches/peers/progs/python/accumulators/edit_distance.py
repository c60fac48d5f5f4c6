def next_random(x):
    return (x * 1366 + 150889) % 714025

def random_text(seed, length):
    letters = []
    x = seed
    for _ in range(length):
        letters.append("acgt"[x % 4])
        x = next_random(x)
    return "".join(letters)

def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i in range(len(a)):
        new_row = [i + 1]
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            new_row.append(min(new_row[j] + 1, row[j + 1] + 1, row[j] + cost))
        row = new_row
    return row[-1]

def main():
    return edit_distance(random_text(1, 250), random_text(2, 300))
