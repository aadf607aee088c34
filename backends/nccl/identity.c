/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the ranks tell each other, in bytes that mean the same on every processor.
 */
#include "config.h"

#include "identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "nccl_api.h"

/* magic 4, format 1, byte order 1, flags 1, spare 1, rank 4, size 4, version 4, device 4,
 * compute 4, boot 16, uuid 64, bus id 32, host 96, unique id 128 */
enum {
    AT_FORMAT = 4,
    AT_ORDER = 5,
    AT_FLAGS = 6,
    AT_RANK = 8,
    AT_SIZE = 12,
    AT_VERSION = 16,
    AT_DEVICE = 20,
    AT_COMPUTE = 24,
    AT_BOOT = 28,
    AT_UUID = 44,
    AT_BUS_ID = 108,
    AT_HOST = 140,
    AT_ID = 236,
    FORMAT = 1,
    FLAG_SPLITS = 1,
    FLAG_SLICE = 2
};

static const char magic[4] = {'M', 'N', 'c', 'c'};

/* ---- of this rank ---- */

/* The host's boot id; zeros where there is none. */
static void read_boot_id(unsigned char boot[16])
{
    char text[64] = "";
    size_t bytes = 0;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file == NULL)
        return;
    if (fgets(text, sizeof(text), file) == NULL)
        text[0] = '\0';
    fclose(file);
    for (const char *at = text; at[0] != '\0' && at[1] != '\0' && bytes < 16;) {
        unsigned value;
        if (at[0] == '-') {
            at++;
        } else if (sscanf(at, "%2x", &value) == 1) {
            boot[bytes++] = (unsigned char)value;
            at += 2;
        } else {
            return;
        }
    }
}

muster_status identity_of(const muster_open_args *args, int version, identity *mine)
{
    muster_device_info device = {.size = sizeof(device)};
    muster_status status =
        device_describe(args->device, deadline_early(deadline_in(args->timeout_ms)), &device);
    if (status != MUSTER_OK)
        return status;
    *mine = (identity){.rank = args->rank,
                       .size = args->num_ranks,
                       .version = version,
                       .device = args->device,
                       .compute = 10 * device.compute_major + device.compute_minor,
                       .slice = device.slice};
    snprintf(mine->uuid, sizeof(mine->uuid), "%s", device.uuid);
    snprintf(mine->bus_id, sizeof(mine->bus_id), "%s", device.bus_id);
    if (gethostname(mine->host, sizeof(mine->host)) != 0)
        snprintf(mine->host, sizeof(mine->host), "?");
    mine->host[sizeof(mine->host) - 1] = '\0';
    read_boot_id(mine->boot);
    return MUSTER_OK;
}

/* ---- in bytes ---- */

static void put(unsigned char *at, int number)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)((unsigned)number >> 8 * (3 - i));
}

static int get(const unsigned char *at)
{
    return (int)((unsigned)at[0] << 24 | (unsigned)at[1] << 16 | (unsigned)at[2] << 8 | at[3]);
}

/* NCCL moves numbers as the host has them. */
static unsigned char byte_order(void)
{
    const unsigned short one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1 ? 'L' : 'B';
}

void identity_write(const identity *mine, unsigned char bytes[IDENTITY_SIZE])
{
    memset(bytes, 0, IDENTITY_SIZE);
    memcpy(bytes, magic, sizeof(magic));
    bytes[AT_FORMAT] = FORMAT;
    bytes[AT_ORDER] = byte_order();
    bytes[AT_FLAGS] =
        (unsigned char)((mine->splits ? FLAG_SPLITS : 0) | (mine->slice ? FLAG_SLICE : 0));
    put(bytes + AT_RANK, mine->rank);
    put(bytes + AT_SIZE, mine->size);
    put(bytes + AT_VERSION, mine->version);
    put(bytes + AT_DEVICE, mine->device);
    put(bytes + AT_COMPUTE, mine->compute);
    memcpy(bytes + AT_BOOT, mine->boot, sizeof(mine->boot));
    memcpy(bytes + AT_UUID, mine->uuid, sizeof(mine->uuid));
    memcpy(bytes + AT_BUS_ID, mine->bus_id, sizeof(mine->bus_id));
    memcpy(bytes + AT_HOST, mine->host, sizeof(mine->host));
    memcpy(bytes + AT_ID, &mine->id, sizeof(mine->id));
}

/* Whoever wrote it may have left out the end. */
static void get_text(char *text, size_t size, const unsigned char *at)
{
    memcpy(text, at, size);
    text[size - 1] = '\0';
}

static muster_status bad_identity(int writer, const char *what)
{
    return nccl_host->error(MUSTER_ERR_PROTOCOL,
                            "what rank %d published is not understood (%s); all ranks need the "
                            "same version of muster",
                            writer, what);
}

static muster_status identity_read(muster_blob blob, int writer, int size, identity *read)
{
    const unsigned char *at = blob.data;
    if (blob.size != IDENTITY_SIZE)
        return bad_identity(writer, "its length is wrong");
    if (memcmp(at, magic, sizeof(magic)) != 0 || at[AT_FORMAT] != FORMAT)
        return bad_identity(writer, "its first bytes differ");
    if (at[AT_ORDER] != byte_order())
        return bad_identity(writer, "it comes from a processor of another byte order");
    *read = (identity){.rank = get(at + AT_RANK),
                       .size = get(at + AT_SIZE),
                       .version = get(at + AT_VERSION),
                       .device = get(at + AT_DEVICE),
                       .compute = get(at + AT_COMPUTE),
                       .splits = (at[AT_FLAGS] & FLAG_SPLITS) != 0,
                       .slice = (at[AT_FLAGS] & FLAG_SLICE) != 0};
    get_text(read->uuid, sizeof(read->uuid), at + AT_UUID);
    get_text(read->bus_id, sizeof(read->bus_id), at + AT_BUS_ID);
    get_text(read->host, sizeof(read->host), at + AT_HOST);
    memcpy(read->boot, at + AT_BOOT, sizeof(read->boot));
    memcpy(&read->id, at + AT_ID, sizeof(read->id));
    if (read->rank == writer && read->size == size)
        return MUSTER_OK;
    return nccl_host->error(MUSTER_ERR_MISMATCH, "rank %d of %d published itself as rank %d of %d",
                            writer, size, read->rank, read->size);
}

/* ---- what must agree ---- */

static bool same_device(const identity *a, const identity *b)
{
    if (a->uuid[0] != '\0' && b->uuid[0] != '\0')
        return strcmp(a->uuid, b->uuid) == 0;
    return memcmp(a->boot, b->boot, sizeof(a->boot)) == 0 && strcmp(a->bus_id, b->bus_id) == 0;
}

static muster_status check_against_first(const identity *one, const identity *first)
{
    char theirs[NCCL_VERSION_TEXT], firsts[NCCL_VERSION_TEXT];
    if (one->version != first->version)
        return nccl_host->error(MUSTER_ERR_MISMATCH,
                                "rank %d on host '%s' has NCCL %s and rank %d on host '%s' has "
                                "NCCL %s; all ranks need the same version (MUSTER_NCCL_LIBRARY "
                                "names the file to use)",
                                one->rank, one->host, nccl_version_text(one->version, theirs),
                                first->rank, first->host,
                                nccl_version_text(first->version, firsts));
    if (one->splits != first->splits)
        return nccl_host->error(MUSTER_ERR_MISMATCH,
                                "rank %d wants to make the communicator %s and rank %d %s; all "
                                "ranks of the parent must make the groups in the same order",
                                one->rank, one->splits ? "out of its parent's" : "anew",
                                first->rank, first->splits ? "out of its parent's" : "anew");
    return MUSTER_OK;
}

static muster_status check_devices(const identity *all, int size)
{
    for (int b = 1; b < size; b++)
        for (int a = 0; a < b; a++)
            if (same_device(&all[a], &all[b]))
                return nccl_host->error(
                    MUSTER_ERR_MISMATCH,
                    "rank %d on host '%s' and rank %d on host '%s' use the same GPU (%s, %s), and "
                    "NCCL needs one of its own for each rank: set nccl.device, or start no more "
                    "ranks than there are GPUs",
                    a, all[a].host, b, all[b].host, all[b].bus_id,
                    all[b].uuid[0] != '\0' ? all[b].uuid : "no UUID");
    return MUSTER_OK;
}

static muster_status read_all(const muster_blob *blobs, int size, identity *all, int *compute)
{
    muster_status status = MUSTER_OK;
    for (int r = 0; r < size && status == MUSTER_OK; r++) {
        status = identity_read(blobs[r], r, size, &all[r]);
        if (status == MUSTER_OK)
            status = check_against_first(&all[r], &all[0]);
        if (r == 0 || all[r].compute < *compute)
            *compute = all[r].compute;
    }
    return status == MUSTER_OK ? check_devices(all, size) : status;
}

muster_status identity_check(const muster_blob *blobs, int size, identity *first, int *compute)
{
    identity *all = calloc((size_t)size, sizeof(*all));
    if (all == NULL)
        return nccl_host->error(MUSTER_ERR_NO_MEMORY, "no memory for %d ranks", size);
    muster_status status = read_all(blobs, size, all, compute);
    *first = all[0];
    free(all);
    return status;
}
