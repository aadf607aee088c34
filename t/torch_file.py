# SPDX-License-Identifier: BSD-3-Clause
# One side of t/torch_file.c: torch's FileStore on a file that muster's store has too. Keys of this side begin with
# "py", those of the other with "c". Prints a line "ok NAME" or "not ok NAME" for each thing checked.
import datetime
import gc
import os
import sys
import time

import torch
import torch.distributed as dist

path, counted = sys.argv[1], sys.argv[2]
every_byte = bytes(range(256))


def check(name, passed):
    print("ok" if passed else "not ok", name, flush=True)


def times_out(call, *arguments):
    try:
        call(*arguments)
    except RuntimeError as error:
        return "imeout" in str(error) or "imed out" in str(error)
    return False


def table(store, key):
    """Every case of compare_set, one behind the other; what each returned."""
    cases = ((b"", b"a"), (b"", b"b"), (b"a", b"c"), (b"x", b"d"), (b"c", b"c"), (b"c", b""), (b"", b"e"))
    said = [store.compare_set(key, expected, desired) for expected, desired in cases]
    said.append(store.compare_set(key + "absent", "x", "y"))
    return b",".join(said)


store = dist.FileStore(path, -1)
store.set_timeout(datetime.timedelta(seconds=30 * float(os.environ.get("MUSTER_TEST_TIMEOUT_FACTOR", "1"))))

# What the other side has written before.
check("text is read", store.get("c/text") == b"of c")
check("every byte may be in a value", store.get("c/bytes") == every_byte)
check("and in a key", store.get(every_byte) == b"key of c")
check("an empty value is one", store.get("c/empty") == b"")
check("a prefix is a part of the key", dist.PrefixStore("c", dist.PrefixStore("in/", store)).get("k") == b"prefixed")
check("a value of 8 MiB is read", store.get("c/large") == b"L" * (8 << 20))
check("a counter goes on", store.add("c/count", 5) == 12 and store.get("c/count") == b"12")
check("one below zero too", store.add("c/below", 1) == -6)
short = datetime.timedelta(milliseconds=200)
check("a deleted key is gone", times_out(store.wait, ["c/deleted"], short))
check("a deletion is told", store.delete_key("c/delete me"))
check("compare_set says the same", table(store, "py/table") == store.get("c/said"))

# What the other side reads when "py/written" is there.
store.set("py/text", "of py")
store.set("py/bytes", every_byte)
store.set(every_byte[::-1], "key of py")
store.set("py/empty", "")
dist.PrefixStore("in/", dist.PrefixStore("py", store)).set("k", "prefixed")
store.set("py/large", "L" * (9 << 20))
store.add("py/count", -7)
store.set("py/deleted", "x")
store.delete_key("py/deleted")
store.set("py/written", str(store.num_keys() + 1))

# Both at once.
store.wait(["c/go"])
for i in range(200):
    store.add("both/count", 1)
    store.set("both/mine", "x" * (i * 7))
    done = False
    while not done:
        now = store.get("both/turns")
        mine = b"%d of py" % (int(now.split()[0]) + 1)  # no other's, which may come before it
        done = store.compare_set("both/turns", now, mine) == mine
store.set("py/both done", "")
store.wait(["c/both done"])
check("no add is lost", store.add("both/count", 0) == 400)

# Each waits for the other.
check("a wait ends in time", times_out(store.wait, ["py/never", "c/text"], short))
store.set("py/ask", "")
store.wait(["c/answer 1", "c/answer 2"])
check("a wait ends when all keys are there", store.get("c/answer 2") == b"2")
time.sleep(0.2)
store.set("py/answer", "late")

# torch counts the stores that are closed, and removes the file with the last.
two = dist.FileStore(counted + ".2", 2)
two.set("k", "stays")
del two
check("a file stays while stores are open by torch's count", os.path.exists(counted + ".2"))
one = dist.FileStore(counted, 1)
one.wait(["c/ready"])
one.set("py/last", "word")
del one
check("the last one removes it", not os.path.exists(counted))

# A group of each side over one file; torch's is a world of its own, and removes the file when it goes.
store.wait(["c/formed"])
group_path = counted + ".group"
dist.init_process_group("gloo", init_method="file://" + group_path, rank=0, world_size=1)
one = torch.ones(3)
dist.all_reduce(one)
dist.destroy_process_group()
gc.collect()
check("a group of torch on the file of a group of muster", one.tolist() == [1, 1, 1])
check("goes with the file", not os.path.exists(group_path))
store.set("py/left", "")
