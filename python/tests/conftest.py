"""The conformance corpus, which tests of all bindings share."""

import json
import pathlib

CORPUS = pathlib.Path(__file__).parents[2] / "snapshots" / "conformance"


def cases():
    """Reads all cases of the corpus."""
    found = []
    for path in sorted(CORPUS.glob("*.jsonl")):
        found.extend(json.loads(line) for line in path.read_text().splitlines() if line.strip())
    return found
