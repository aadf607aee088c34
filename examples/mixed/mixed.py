# SPDX-License-Identifier: BSD-3-Clause
# The ranks of mixed.sh that train: they have a model and torch. Those of mixed.c generate. Both meet in the store at
# MASTER_ADDR:MASTER_PORT, under the prefix "mixed".
#
#   weights            a line for each tensor of the model: its name, type and dimensions
#   weights/<name>     its bytes
#   weights/got/<r>    what generator r made of them: tensors, bytes, and the sum of all bytes
#   prompts/<r>        the prompts that generator r hands over, as lists of token ids
#   answers/<r>        what trainer r answers: here each of its prompts backwards
#
# Lists of token ids are 64-bit integers in the machine's order: how many lists, their lengths, the ids.
import array
import datetime
import json
import os
import sys

import torch
import torch.distributed as dist

rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
trainers = size // 2
timeout = datetime.timedelta(seconds=int(os.environ.get("MIXED_SECONDS", "60")))


def pack(lists):
    words = array.array("q", [len(lists)] + [len(one) for one in lists])
    for one in lists:
        words.extend(one)
    return words.tobytes()


def unpack(data):
    words = array.array("q", data)
    lists, at = [], 1 + words[0]
    for length in words[1 : 1 + words[0]]:
        lists.append(words[at : at + length].tolist())
        at += length
    return lists


def check(right, what):
    if not right:
        sys.exit("mixed.py: rank %d: %s" % (rank, what))


def raw(tensor):
    return bytes(tensor.detach().contiguous().flatten().view(torch.uint8).tolist())


def meet():
    """The store: torchrun's agent or muster-run runs the server, or else rank 0 does."""
    hosted = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    store = dist.TCPStore(
        os.environ["MASTER_ADDR"],
        int(os.environ["MASTER_PORT"]),
        is_master=rank == 0 and not hosted,
        timeout=timeout,
        wait_for_workers=False,
    )
    attempt = os.environ["TORCHELASTIC_RESTART_COUNT"]
    return dist.PrefixStore("mixed/" + attempt, store)


def give_weights(store):
    torch.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Embedding(256, 16), torch.nn.Linear(16, 24), torch.nn.BatchNorm1d(24), torch.nn.Linear(24, 8).half()
    )
    weights = {name: raw(tensor) for name, tensor in model.state_dict().items()}
    lines = []
    for name, tensor in model.state_dict().items():
        dims = "".join(" %d" % dim for dim in tensor.shape)
        lines.append("%s %s%s\n" % (name, str(tensor.dtype).replace("torch.", ""), dims))
    if rank == 0:
        for name, data in weights.items():
            store.set("weights/" + name, data)
        store.set("weights", "".join(lines))
    total = sum(len(data) for data in weights.values())
    summed = sum(sum(data) for data in weights.values())
    for generator in range(trainers, size):
        said = store.get("weights/got/%d" % generator).decode()
        check(said == "%d %d %d" % (len(weights), total, summed), "generator %d has other weights: %s" % (generator, said))
    return len(weights), total


def answer_prompts(store, file):
    with open(file, encoding="utf-8") as lines:
        expected = [json.loads(line)["token_ids"] for line in lines]
    prompts = []
    for generator in range(trainers, size):
        prompts += unpack(store.get("prompts/%d" % generator))
    check(prompts == expected, "the prompts are not those of the file")
    mine = prompts[len(prompts) * rank // trainers : len(prompts) * (rank + 1) // trainers]
    store.set("answers/%d" % rank, pack([one[::-1] for one in mine]))
    return len(prompts), sum(len(one) for one in prompts), sum(len(one) for one in mine)


def count_together(store, mine, tokens):
    """The trainers' own group, over the same store."""
    dist.init_process_group("gloo", store=dist.PrefixStore("torch", store), rank=rank, world_size=trainers, timeout=timeout)
    counted = torch.tensor([mine])
    dist.all_reduce(counted)
    check(counted.item() == tokens, "the trainers have answered %d tokens of %d" % (counted.item(), tokens))
    dist.destroy_process_group()


def leave(store):
    """Rank 0, which may run the server, is the last to go."""
    if rank == 0:
        store.wait(["all left"])
    elif store.add("left", 1) == size - 1:
        store.set("all left", "")


def main():
    store = meet()
    tensors, size_of_weights = give_weights(store)
    prompts, tokens, mine = answer_prompts(store, sys.argv[1])
    count_together(store, mine, tokens)
    leave(store)
    said = "rank %d of %d, torch %s: %d tensors of %d bytes given, %d prompts of %d tokens received\n" % (
        rank, size, torch.__version__, tensors, size_of_weights, prompts, tokens)
    # one write: print() makes two where PYTHONUNBUFFERED is set, as torchrun does, and ranks' lines would mix
    os.write(sys.stdout.fileno(), said.encode())


main()
