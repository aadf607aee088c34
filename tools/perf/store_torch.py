# SPDX-License-Identifier: BSD-3-Clause
#
# torch's part of muster-perf store: a server, or a crew of clients, each a process with a TCPStore
# of its own. Orders come on stdin by the line, and each is answered on stdout; store.h says how.
import ctypes
import datetime
import os
import resource
import sys
import time
import traceback

role, port, clients, size, seconds = sys.argv[1], *map(int, sys.argv[2:6])
ORDER = 64  # bytes, padded, of which each client reads its own


def say(*words):
    print(*words, flush=True)


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def open_store(serves):
    limit = datetime.timedelta(seconds=seconds)
    given = {"host_name": "127.0.0.1", "port": port if not serves else 0, "world_size": None,
             "is_master": serves, "timeout": limit, "wait_for_workers": False}
    try:
        return torch.distributed.TCPStore(**given)
    except RuntimeError as error:
        if "libuv" not in str(error):
            raise
        return torch.distributed.TCPStore(**given, use_libuv=False)


def serve():
    store = open_store(True)
    backend = getattr(store, "libuvBackend", None)
    kind = "" if backend is None else " (libuv)" if backend else " (without libuv)"
    say(store.port, 0, "torch", torch.__version__ + kind)
    for _ in sys.stdin:
        say(cpu(), 0)


def work(store, me, task, operations, number):
    value = "v" * size
    theirs = "set/%d" % ((me + 1) % clients)
    if task == "set":
        for _ in range(operations):
            store.set("set/%d" % me, value)
        store.num_keys()  # torch does not wait for what it sets: all of it must have arrived
    elif task == "get":
        for _ in range(operations):
            assert len(store.get(theirs)) == size
    elif task == "add":
        for _ in range(operations):
            store.add("sum", 1)
    elif task == "mix":
        for i in range(operations):
            if i % 2 == 0 and hasattr(store, "check"):  # not before 2.0
                assert store.check([theirs])
            else:
                store.wait([theirs])
    else:
        store.set("share/%d/%d" % (number, me), value)
        keys = ["share/%d/%d" % (number, i) for i in range(clients)]
        if hasattr(store, "multi_get"):
            store.wait(keys)
            found = store.multi_get(keys)
        else:
            found = [store.get(key) for key in keys]
        assert all(len(one) == size for one in found)


def report(line, words):
    os.write(line, (words.replace("\n", " ")[:500] + "\n").encode())


def client(me, orders, reports):
    try:
        store = open_store(False)
        report(reports, "0")
        while order := os.read(orders[0][0], ORDER).decode().split():
            orders.reverse()
            before = cpu()
            work(store, me, order[0], int(order[1]), int(order[2]))
            report(reports, "%.6f" % (cpu() - before))
    except BaseException:
        report(reports, "!" + traceback.format_exc(limit=0).strip())
    os._exit(0)


def crew():
    # They take turns, so that a fast client can't take the order of another.
    orders = [os.pipe(), os.pipe()]
    take, reports = os.pipe()
    for me in range(clients):
        if os.fork() == 0:
            ctypes.CDLL(None).prctl(1, 9)  # it ends with this process
            os.close(orders[0][1])
            os.close(orders[1][1])
            os.close(take)
            client(me, orders, reports)
    os.close(orders[0][0])
    os.close(orders[1][0])
    os.close(reports)
    answers = os.fdopen(take)

    def gather(start):
        lines = [answers.readline().strip() for _ in range(clients)]
        wrong = [line for line in lines if not line or line[0] == "!"]
        if wrong:
            say(wrong[0] or "!a client has ended")
        else:
            say("%.6f %.6f" % (time.monotonic() - start, sum(map(float, lines))))

    gather(time.monotonic())
    for line in sys.stdin:
        start = time.monotonic()
        for _ in range(clients):
            os.write(orders[0][1], line.strip().encode().ljust(ORDER))
        orders.reverse()
        gather(start)


try:
    import torch
    import torch.distributed
    serve() if role == "serve" else crew()
except ImportError as error:
    say("!it has no torch: %s" % str(error).replace("\n", " ")[:400])
except BaseException as error:
    say("!%s: %s" % (type(error).__name__, str(error).replace("\n", " ")[:400]))
os._exit(0)
