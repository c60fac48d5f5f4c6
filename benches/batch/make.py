"""Makes the data of the batch benchmark: orders as JSON lines, and as Parquet if PyArrow is there."""

import json
import random
import sys
from pathlib import Path

WORDS = "please deliver after noon ring twice gift wrap leave at the door fragile call before second floor".split()
CITIES = ["Oslo", "Bergen", "Malmö", "Uppsala", "Turku", "Aarhus", "Reykjavík", "Tromsø"]
COUNTRIES = ["NO", "SE", "DK", "FI", "IS", "DE", "NL", "PL"]


def order(chance, number):
    """One order; about 460 bytes of JSON."""
    note = " ".join(chance.choices(WORDS, k=chance.randint(6, 14)))
    if number % 3 == 0:
        note += f" ref AB-{chance.randint(1000, 99999)} from user{chance.randint(1, 5000)}@example.com"
    return {
        "id": number,
        "customer": f"c{chance.randint(1, 20000):05}",
        "country": chance.choice(COUNTRIES),
        "status": chance.choice(["open", "paid", "sent", "void"]),
        "price": round(chance.uniform(1, 200), 2),
        "amount": chance.randint(1, 9),
        "discount": chance.choice([None, 0.05, 0.1]),
        "priority": chance.randint(0, 3),
        "created": f"2026-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}T10:{chance.randint(0, 59):02}:00Z",
        "channel": chance.choice(["web", "shop", "phone"]),
        "weight": chance.randint(10, 9999),
        "gift": chance.random() < 0.1,
        "note": note,
        "address": {
            "street": f"{chance.choice(WORDS)} {chance.randint(1, 200)}",
            "city": chance.choice(CITIES),
            "zip": f"{chance.randint(0, 9999):04}",
        },
        "tags": chance.sample(["new", "bulk", "cold", "eu", "tax"], k=chance.randint(0, 3)),
        "lines": [
            {"sku": f"s-{chance.randint(1, 999)}", "price": chance.randint(1, 90), "amount": chance.randint(1, 5)}
            for _ in range(chance.randint(1, 4))
        ],
    }


def make(folder, megabytes, seed=7):
    """Writes the files unless they are there; returns the path of the JSON lines."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lines = folder / f"orders-{megabytes}-{seed}.jsonl"
    if not lines.exists():
        chance = random.Random(seed)
        part = lines.with_suffix(".part")
        with part.open("w", encoding="utf-8") as out:
            number = 0
            while out.tell() < megabytes * 1_000_000:
                for _ in range(5000):
                    number += 1
                    out.write(json.dumps(order(chance, number), ensure_ascii=False, separators=(",", ":")) + "\n")
        part.rename(lines)
    return lines


def parquet(lines):
    """Writes the orders as Parquet, ordered by price, in row groups of 50,000; returns the path."""
    import pyarrow.json
    import pyarrow.parquet

    path = lines.with_suffix(".parquet")
    if not path.exists():
        block = pyarrow.json.ReadOptions(block_size=16 << 20)
        table = pyarrow.json.read_json(lines, read_options=block).sort_by("price")
        pyarrow.parquet.write_table(table, path, row_group_size=50_000, compression="zstd")
    return path


if __name__ == "__main__":
    made = make(sys.argv[1], int(sys.argv[2]))
    print(made)
    print(parquet(made))
