# SPDX-License-Identifier: BSD-3-Clause
#
# A client, and where asked the host, of torch's TCPStore, led by a test: each line on stdin is a
# command, each line on stdout its answer. Bytes are in hex, "-" for none.
import datetime
import os
import sys
import time

import torch
from torch.distributed import TCPStore

STORE = None


def milliseconds(text):
    return datetime.timedelta(milliseconds=int(text))


def raw(text):
    return b"" if text == "-" else bytes.fromhex(text)


def shown(data):
    return data.hex() or "-"


def open_store(port, world_size, is_host, *libuv):
    global STORE
    options = {"use_libuv": libuv[0] == "1"} if libuv else {}
    STORE = TCPStore("127.0.0.1", int(port), int(world_size) or None, is_host,
                     timeout=datetime.timedelta(seconds=20),
                     wait_for_workers=int(world_size) > 0, **options)
    return STORE.port


def wait(timeout, *keys):
    try:
        STORE.wait([raw(key) for key in keys], milliseconds(timeout))
        return "there"
    except RuntimeError as error:
        return "timeout" if "imeout" in str(error) else str(error).split("\n")[0]


def pop(name, block):
    try:
        return shown(STORE.queue_pop(raw(name), block == "1"))
    except RuntimeError as error:
        return "empty" if "empty" in str(error) else str(error).split("\n")[0]


def pattern(size):
    return bytes(range(251)) * (int(size) // 251)


def later(ms, key, value):
    time.sleep(int(ms) / 1000)
    STORE.set(raw(key), raw(value))


def count_up(key, times):
    for _ in range(int(times)):
        total = STORE.add(raw(key), 1)
    return total


def flood(key, size):
    sys.stdout.write("flooding\n")
    sys.stdout.flush()
    while True:
        STORE.set(raw(key), b"x" * int(size))


COMMANDS = {
    "host": lambda port, world_size, *libuv: open_store(port, world_size, True, *libuv),
    "join": lambda port, world_size, *libuv: open_store(port, world_size, False, *libuv),
    "set": lambda key, value: STORE.set(raw(key), raw(value)),
    "set_large": lambda key, size: STORE.set(raw(key), pattern(size)),
    "is_large": lambda key, size: int(STORE.get(raw(key)) == pattern(size)),
    "later": later,
    "get": lambda key: shown(STORE.get(raw(key))),
    "add": lambda key, delta: STORE.add(raw(key), int(delta)),
    "compare_set": lambda key, expected, desired: shown(
        STORE.compare_set(raw(key), raw(expected), raw(desired))),
    "check": lambda *keys: int(STORE.check([raw(key) for key in keys])),
    "wait": wait,
    "delete": lambda key: int(STORE.delete_key(raw(key))),
    "num_keys": lambda: STORE.num_keys(),
    "append": lambda key, value: STORE.append(raw(key), raw(value)),
    "multi_set": lambda *pairs: STORE.multi_set([raw(key) for key in pairs[::2]],
                                                [raw(value) for value in pairs[1::2]]),
    "multi_get": lambda *keys: " ".join(shown(value) for value in
                                        STORE.multi_get([raw(key) for key in keys])),
    "queue_push": lambda name, value: STORE.queue_push(raw(name), raw(value)),
    "queue_pop": pop,
    "queue_len": lambda name: STORE.queue_len(raw(name)),
    "list_keys": lambda: " ".join(sorted(shown(key if isinstance(key, bytes) else key.encode())
                                         for key in STORE.list_keys())),
    "barrier": lambda key, world_size, timeout: STORE.barrier(raw(key), int(world_size),
                                                              milliseconds(timeout)),
    "count_up": count_up,
    "flood": flood,
    "has": lambda name: int(hasattr(TCPStore, name)),
}

print("ready", torch.__version__, flush=True)
for line in sys.stdin:
    command, *arguments = line.split()
    try:
        result = COMMANDS[command](*arguments)
        print("done" if result is None else result, flush=True)
    except Exception as error:
        print("error", type(error).__name__, str(error).replace("\n", " "), flush=True)
os._exit(0)
