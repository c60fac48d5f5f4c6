NAMES = ["price", "amount", "tax", "rate", "total", "discount", "x"]

def next_random(x):
    return (x * 1366 + 150889) % 714025

def statement(x):
    return NAMES[x % 7] + " = " + str(x % 1009) + " + " + NAMES[x % 6] + " * (" + str(x % 17) + " - y);"

def make_text():
    lines = []
    x = 1
    for _ in range(1000):
        lines.append(statement(x))
        x = next_random(x)
    return "\n".join(lines)

def kind_of(ch):
    if ch.isalpha():
        return "word"
    if ch.isdigit():
        return "number"
    if ch.isspace():
        return "space"
    return "symbol"

def tokenize(text):
    tokens = []
    current = None
    token = ""
    for ch in text:
        kind = kind_of(ch)
        if kind == current:
            token += ch
            continue
        if current is not None:
            tokens.append({"kind": current, "text": token})
            current = None
        if kind == "symbol":
            tokens.append({"kind": kind, "text": ch})
        elif kind != "space":
            current = kind
            token = ch
    if current is not None:
        tokens.append({"kind": current, "text": token})
    return tokens

def main():
    result = {}
    check = 0
    for token in tokenize(make_text()):
        kind = token["kind"]
        result[kind] = result.get(kind, 0) + 1
        check = (check * 31 + len(token["text"])) % 1000003
    result["check"] = check
    return result
