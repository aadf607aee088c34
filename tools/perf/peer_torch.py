# SPDX-License-Identifier: BSD-3-Clause
#
# torch's part of muster-perf --peer torch: one rank on the Gloo backend, started by a rank of
# muster's, from which it inherits the host and the CPUs. The arguments are size, rank, the address
# of rank 0, and a descriptor with token lists or -1. Orders and answers are lines. The first
# answer, to no order, is the port of rank 0's store; the first order is the port to connect to.
import array
import datetime
import mmap
import os
import sys
import time

size, rank, address, data = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
TIMEOUT = datetime.timedelta(minutes=30)


def say(*words):
    print(*words, flush=True)


def connect(port):
    return dist.TCPStore(address, port, size, port == 0, TIMEOUT, wait_for_workers=False)


def meet(name):
    """A barrier that needs no group."""
    if store.add("meet " + name, 1) == size:
        store.set("met " + name, "yes")
    store.wait(["met " + name])


def slowest_by_store(name, seconds):
    store.set("%s %d" % (name, rank), "%.9f" % seconds)
    return max(float(store.get("%s %d" % (name, r))) for r in range(size))


# ---- Operations ----------------------------------------------------------------------------------

def lengths(order):
    base, half = order["base"], order["base"] // 2 if order["name"].endswith("_v") else 0
    crossed = rank if order["name"] == "all_to_all_v" else 0
    return [base - half if (b + crossed) % 2 else base + half for b in range(size)]


def call(order):
    """A function that makes the call once."""
    name, root, base = order["name"], order["root"], order["base"]
    counts = lengths(order)
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


def slowest(*seconds):
    times = torch.tensor(seconds, dtype=torch.float64)
    dist.all_reduce(times, dist.ReduceOp.MAX)
    return times.tolist()


def operation(words):
    order = dict(zip(("name", "type", "redop", "root", "base", "calls", "warmups"), words))
    order.update((key, int(order[key])) for key in ("root", "base", "calls", "warmups"))
    order["type"] = getattr(torch, {"float8_e4m3": "float8_e4m3fn"}.get(order["type"],
                                                                       order["type"]), None)
    if order["type"] is None:
        raise RuntimeError("torch has no type %s" % words[1])
    once = call(order)
    for _ in range(order["warmups"] + 1):  # the first shows whether there is such a thing
        once()
    dist.barrier()
    start = time.monotonic()
    for _ in range(order["calls"]):
        once()
    return slowest((time.monotonic() - start) / order["calls"], 0)


# ---- Groups --------------------------------------------------------------------------------------

def groups(words):
    """The world and both kinds of sub-groups, as the toolkits make them: groups NAME GROUP_SIZE."""
    name, part = words[1], int(words[2])
    meet(name)
    start = time.monotonic()
    dist.init_process_group("gloo", store=dist.PrefixStore(name, connect(port)), rank=rank,
                            world_size=size, timeout=TIMEOUT)
    middle = time.monotonic()
    for first in range(0, size, part):
        dist.new_group(list(range(first, first + part)), timeout=TIMEOUT, backend="gloo")
    for first in range(part):
        dist.new_group(list(range(first, size, part)), timeout=TIMEOUT, backend="gloo")
    end = time.monotonic()
    dist.destroy_process_group()
    return (slowest_by_store(name + " world", middle - start),
            slowest_by_store(name + " parts", end - middle))


# ---- Token lists ---------------------------------------------------------------------------------

def lists():
    """What muster's ranks received: the number of lists, where each begins and ends, the ids."""
    numbers = array.array("q")
    with mmap.mmap(data, 0, prot=mmap.PROT_READ) as all_of_it:
        numbers.frombytes(all_of_it)
    ids = numbers[numbers[0] + 2:]
    return [ids[numbers[i]:numbers[i + 1]].tolist() for i in range(1, numbers[0] + 1)]


def gather_padded(mine):
    """All ranks' lists, in a matrix for each rank, and the seconds of torch's calls alone."""
    start = time.monotonic()
    most = torch.tensor([len(mine), max(map(len, mine), default=0)])
    dist.all_reduce(most, dist.ReduceOp.MAX)
    rows, width = most.tolist()
    counts = torch.zeros(rows + 1, dtype=torch.int64)
    every_count = [torch.empty_like(counts) for _ in range(size)]
    counts[:len(mine) + 1] = torch.tensor([len(mine), *map(len, mine)])
    dist.all_gather(every_count, counts)
    moving = time.monotonic() - start
    matrix = torch.full((rows, width), -1, dtype=torch.int64)
    for i, ids in enumerate(mine):
        matrix[i, :len(ids)] = torch.tensor(ids, dtype=torch.int64)
    every_matrix = [torch.empty_like(matrix) for _ in range(size)]
    start = time.monotonic()
    dist.all_gather(every_matrix, matrix)
    moving += time.monotonic() - start
    result = []
    for its_counts, its_matrix in zip(every_count, every_matrix):
        count, *its_lengths = its_counts.tolist()
        result += [row[:n] for row, n in zip(its_matrix.tolist(), its_lengths[:count])]
    return result, moving


def gather_tokens(words):
    """gather_tokens FROM TO, the lists that this rank gives."""
    dist.barrier()
    start = time.monotonic()
    result, moving = gather_padded(everything[int(words[1]):int(words[2])])
    times = slowest(time.monotonic() - start, moving)
    if result != everything:
        raise AssertionError("torch's ranks received other lists than muster's")
    return times


# ---- The whole -----------------------------------------------------------------------------------

def answer(words):
    if words[0] == "groups":
        return groups(words)
    if not dist.is_initialized():
        dist.init_process_group("gloo", store=dist.PrefixStore("world", store), rank=rank,
                                world_size=size, timeout=TIMEOUT)
        dist.barrier()
    return gather_tokens(words) if words[0] == "gather_tokens" else operation(words)


try:
    import torch
    import torch.distributed as dist
    everything = lists() if data >= 0 else []
    server = connect(0) if rank == 0 else None
    say(server.port if rank == 0 else 0, 0)
    port = int(sys.stdin.readline() or os._exit(0))
    store = connect(port)
    meet("all")
    say(size, 0)
    while order := sys.stdin.readline().split():
        try:
            say("%.9f %.9f" % tuple(answer(order)))
        except (RuntimeError, NotImplementedError, ValueError, TypeError) as error:
            say(-1, 0, " ".join(str(error).split())[:200])
except ImportError as error:
    say("!it has no torch: %s" % str(error).replace("\n", " ")[:400])
except BaseException as error:
    say("!%s: %s" % (type(error).__name__, str(error).replace("\n", " ")[:400]))
os._exit(0)
