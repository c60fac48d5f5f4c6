"""The CPython arm: the programs of progs/python, rows as JSON lines."""
import json, os, platform, statistics, sys, time

args = sys.argv[1:]
opt = lambda n: args[args.index(n) + 1] if n in args else None
DATA, QUICK = opt("--data"), "--quick" in args
ONLY = opt("--only").split(",") if opt("--only") else None
PROGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "progs", "python")
src = lambda n: open(os.path.join(PROGS, n + ".py")).read()
VERSION = platform.python_version()


def wants(w):
    return ONLY is None or any(w == p or w.startswith(p + ".") for p in ONLY)


def emit(w, ns, cpu, inner, answer, **extra):
    ns.sort()
    q = statistics.quantiles(ns, n=4) if len(ns) > 2 else [ns[0], ns[len(ns) // 2], ns[-1]]
    timing = {"median_ns": statistics.median(ns), "min_ns": ns[0], "q1_ns": q[0], "q3_ns": q[2],
              "cpu_ns": statistics.median(cpu), "samples": len(ns), "inner": inner, "threads": 1}
    print(json.dumps({"arm": "cpython", "version": VERSION, "workload": w, "timing": timing,
                      "answer": answer, **extra}), flush=True)


def bench(w, f, **extra):
    if not wants(w):
        return
    answer = f()
    t0, n = time.perf_counter_ns(), 0
    while True:
        f()
        n += 1
        if time.perf_counter_ns() - t0 > (30e6 if QUICK else 300e6):
            break
    per = (time.perf_counter_ns() - t0) / n
    inner = max(1, int(4e6 / per) + 1)
    ns, cpu = [], []
    for _ in range(3 if QUICK else 15 if per * inner > 1e8 else 31):
        t, c = time.perf_counter_ns(), time.thread_time_ns()
        for _ in range(inner):
            f()
        cpu.append((time.thread_time_ns() - c) / inner)
        ns.append((time.perf_counter_ns() - t) / inner)
    emit(w, ns, cpu, inner, answer, **extra)


def load(text):
    env = {}
    exec(compile(text, "main.py", "exec"), env)
    return env["main"]


orders_text = open(os.path.join(DATA, "orders.json")).read()
orders = json.loads(orders_text)
text = open(os.path.join(DATA, "text.txt")).read()
for w, a in [("W1", ()), ("W2", ()), ("W3", (orders,)), ("W4", (text,)), ("W5", ())]:
    s = src(w.lower())
    f = load(s)
    bench(w, lambda: f(*a))
    bench(w + ".cold", lambda: load(s)(*a))
for file in sorted(os.listdir(os.path.join(PROGS, "accumulators"))):
    name = file.removesuffix(".py")
    bench(name, load(src("accumulators/" + name)))
bench("W3j", lambda: len(json.loads(orders_text)))


tiny, prog = src("tiny"), src("prog")
bench("W7.tiny", lambda: eval(tiny, {}))
prog = prog.strip().removesuffix("main()")  # its last line: here the call is made from outside
bench("W7.prog", lambda: load(prog)())

if wants("W6") or any(p.startswith("W6.") for p in ONLY):
    own = []
    with open(os.path.join(DATA, "records.jsonl")) as f:
        for line in f:
            own.append(json.loads(line))
            if len(own) == 2000:
                break
    s = src("w6")
    main = load(s)

    def passes(n):
        ids = score = 0
        labels = {"high": 0, "mid-de": 0, "mid": 0, "low": 0}
        for _ in range(n):
            for r in own:
                o = main(r)
                ids += o["id"]
                score += o["score"]
                labels[o["label"]] += 1
        return [n * len(own), ids, score, list(labels.values())]

    passes(20)
    ns, cpu = [], []
    for _ in range(2 if QUICK else 15):
        t, c = time.perf_counter_ns(), time.thread_time_ns()
        answer = passes(100)
        cpu.append((time.thread_time_ns() - c) / (100 * len(own)))
        ns.append((time.perf_counter_ns() - t) / (100 * len(own)))
    emit("W6.own", ns, cpu, 100 * len(own), answer, note="dict in, dict out")
    one = own[0]
    bench("W6.cold", lambda: load(s)(one))
