# SPDX-License-Identifier: BSD-3-Clause
#
# torch's part of muster-perf --peer torch: so many ranks on the Gloo backend, each a process. The
# orders and answers are those of peer_mpi.c.
import datetime
import os
import shutil
import sys
import tempfile
import time

size = int(sys.argv[1])
ORDER = 256  # bytes, padded


def say(*words):
    print(*words, flush=True)


def lengths(order, rank):
    base, half = order["base"], order["base"] // 2 if order["name"].endswith("_v") else 0
    crossed = rank if order["name"] == "all_to_all_v" else 0
    return [base - half if (b + crossed) % 2 else base + half for b in range(size)]


def call(order, rank):
    """A function that makes the call once."""
    name, root, base = order["name"], order["root"], order["base"]
    counts = lengths(order, rank)
    mine, total = counts[rank], sum(counts)
    redop = getattr(dist.ReduceOp, {"prod": "PRODUCT"}.get(order["redop"], order["redop"].upper()),
                    None)
    if name.endswith("_v") and name != "all_to_all_v":
        raise RuntimeError("torch's Gloo has no %s: its blocks have one length there" % name)
    if "reduce" in name and redop is None:
        raise RuntimeError("torch has no reduction %s" % order["redop"])

    def new(count):
        return torch.zeros(count, dtype=order["type"])

    def blocks():
        return list(new(total).split(counts))

    one = new(base)
    if name == "barrier":
        return dist.barrier
    if name == "broadcast":
        return lambda: dist.broadcast(one, root)
    if name == "reduce":
        return lambda: dist.reduce(one, root, redop)
    if name == "all_reduce":
        return lambda: dist.all_reduce(one, redop)
    if name == "send_recv":
        other = new(base)
        pair = [dist.P2POp(dist.isend, one, (rank + 1) % size),
                dist.P2POp(dist.irecv, other, (rank + size - 1) % size)]
        return lambda: [work.wait() for work in dist.batch_isend_irecv(pair)]
    one, many = new(mine), blocks()
    if name == "gather":
        return lambda: dist.gather(one, many if rank == root else None, root)
    if name == "scatter":
        return lambda: dist.scatter(one, many if rank == root else None, root)
    if name == "all_gather":
        return lambda: dist.all_gather(many, one)
    if name == "reduce_scatter":
        return lambda: dist.reduce_scatter(one, many, redop)
    there, back = new(total), new(total)
    return lambda: dist.all_to_all_single(back, there, counts, counts)


def measure(order, rank):
    once = call(order, rank)
    for _ in range(order["warmups"] + 1):  # the first shows whether there is such a thing
        once()
    dist.barrier()
    start = time.monotonic()
    for _ in range(order["calls"]):
        once()
    slowest = torch.tensor([(time.monotonic() - start) / order["calls"]], dtype=torch.float64)
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    return float(slowest)


def read(words):
    order = dict(zip(("name", "type", "redop", "root", "base", "calls", "warmups"), words))
    order.update((key, int(order[key])) for key in ("root", "base", "calls", "warmups"))
    order["type"] = getattr(torch, {"float8_e4m3": "float8_e4m3fn"}.get(order["type"],
                                                                       order["type"]), None)
    if order["type"] is None:
        raise RuntimeError("torch has no type %s" % words[1])
    return order


def work(rank, lines, meeting):
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=size,
                            timeout=datetime.timedelta(minutes=30))
    dist.barrier()
    if rank == 0:
        say(dist.get_world_size(), 0)
    while words := lines():
        try:
            seconds, why = measure(read(words), rank), ""
        except (RuntimeError, NotImplementedError, ValueError, TypeError) as error:
            seconds, why = -1, " ".join(str(error).split())[:200]
        if rank == 0:
            say("%.9f" % seconds, 0, why)


def ranks():
    folder = tempfile.mkdtemp()
    pipes = [os.pipe() for _ in range(size - 1)]
    meeting = os.path.join(folder, "meeting")
    for rank in range(1, size):
        if os.fork() == 0:
            for _, far in pipes:  # so that they end with the first rank
                os.close(far)
            work(rank, lambda: os.read(pipes[rank - 1][0], ORDER).decode().split(), meeting)
            os._exit(0)

    def hand_on():
        line = sys.stdin.readline()
        for _, far in pipes if line else ():
            os.write(far, line.strip().encode().ljust(ORDER))
        return line.split()

    try:
        work(0, hand_on, meeting)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


try:
    import torch
    import torch.distributed as dist
    ranks()
except ImportError as error:
    say("!it has no torch: %s" % str(error).replace("\n", " ")[:400])
except BaseException as error:
    say("!%s: %s" % (type(error).__name__, str(error).replace("\n", " ")[:400]))
os._exit(0)
