RENAMED = {"name": "title"}

def build(depth, id):
    x = (id * 1366 + 150889) % 714025
    node = {
        "id": id,
        "name": "item-" + str(x),
        "secret": x % 9973,
        "size": {"width": x % 97, "height": x % 89},
        "tags": ["json", "tag-" + str(x % 7)],
    }
    if depth > 0:
        node["children"] = [build(depth - 1, id * 4 + n) for n in range(1, 5)]
    return node

def rewrite(node):
    if isinstance(node, dict):
        return {RENAMED.get(key, key): rewrite(value) for key, value in node.items() if key != "secret"}
    if isinstance(node, list):
        return [rewrite(value) for value in node]
    if isinstance(node, str):
        return node.upper()
    return node + 1

def weight(node):
    if isinstance(node, dict):
        return sum([weight(value) for value in node.values()])
    if isinstance(node, list):
        return sum([weight(value) for value in node])
    if isinstance(node, str):
        return len(node)
    return node

def main():
    tree = rewrite(build(5, 0))
    return {"title": tree["title"], "weight": weight(tree)}
