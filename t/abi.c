/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layout of what programs and plugins share with the library, as it was in the first version.
 * A line here may be added, never changed.
 */
#include "tap.h"

#include "muster.h"
#include "muster/backend.h"

typedef struct field {
    const char *name;
    size_t expected;
    size_t found;
} field;

#define SIZE(type, bytes)                                                                          \
    {                                                                                              \
        "the size of " #type, bytes, sizeof(type)                                                  \
    }
#define AT(type, member, bytes)                                                                    \
    {                                                                                              \
#type "." #member, bytes, offsetof(type, member)                                           \
    }

static const field fields[] = {
    SIZE(muster_blob, 16),
    AT(muster_blob, size, 8),
    SIZE(muster_tcp_store_args, 48),
    AT(muster_tcp_store_args, struct_size, 0),
    AT(muster_tcp_store_args, host, 8),
    AT(muster_tcp_store_args, port, 16),
    AT(muster_tcp_store_args, listen, 20),
    AT(muster_tcp_store_args, listen_fd, 24),
    AT(muster_tcp_store_args, timeout_ms, 32),
    AT(muster_tcp_store_args, secret, 40),
    SIZE(muster_init_args, 72),
    AT(muster_init_args, struct_size, 0),
    AT(muster_init_args, backend, 8),
    AT(muster_init_args, init_method, 16),
    AT(muster_init_args, timeout_ms, 24),
    AT(muster_init_args, world_size, 32),
    AT(muster_init_args, rank, 36),
    AT(muster_init_args, store, 40),
    AT(muster_init_args, group_name, 48),
    AT(muster_init_args, backend_options, 56),
    AT(muster_init_args, pg_options, 56),
    AT(muster_init_args, options, 64),
    SIZE(muster_group_args, 48),
    AT(muster_group_args, struct_size, 0),
    AT(muster_group_args, backend, 8),
    AT(muster_group_args, timeout_ms, 16),
    AT(muster_group_args, group_name, 24),
    AT(muster_group_args, backend_options, 32),
    AT(muster_group_args, pg_options, 32),
    AT(muster_group_args, options, 40),
    SIZE(muster_token_lists, 24),
    AT(muster_token_lists, lengths, 8),
    AT(muster_token_lists, tokens, 16),
    SIZE(muster_tokens, 48),
    AT(muster_tokens, num_lists, 8),
    AT(muster_tokens, num_tokens, 16),
    AT(muster_tokens, rank_offsets, 24),
    AT(muster_tokens, list_offsets, 32),
    AT(muster_tokens, tokens, 40),
    SIZE(muster_padded_tokens, 32),
    AT(muster_padded_tokens, width, 8),
    AT(muster_padded_tokens, lengths, 16),
    AT(muster_padded_tokens, matrix, 24),
    SIZE(muster_object_list, 16),
    AT(muster_object_list, objects, 8),
    SIZE(muster_objects, 40),
    AT(muster_objects, num_objects, 8),
    AT(muster_objects, num_bytes, 16),
    AT(muster_objects, rank_offsets, 24),
    AT(muster_objects, objects, 32),
    SIZE(muster_backend_report, 40),
    AT(muster_backend_report, available, 8),
    AT(muster_backend_report, version, 16),
    AT(muster_backend_report, file, 24),
    AT(muster_backend_report, reason, 32),
    SIZE(muster_option_report, 64),
    AT(muster_option_report, type, 8),
    AT(muster_option_report, default_value, 16),
    AT(muster_option_report, since, 24),
    AT(muster_option_report, until, 32),
    AT(muster_option_report, aliases, 40),
    AT(muster_option_report, help, 48),
    AT(muster_option_report, usable, 56),
    /* what plugins see */
    SIZE(muster_host, 72),
    AT(muster_host, size, 4),
    AT(muster_host, error, 8),
    AT(muster_host, log, 16),
    AT(muster_host, option, 24),
    AT(muster_host, exchange, 32),
    AT(muster_host, cancelled, 40),
    AT(muster_host, broken, 48),
    AT(muster_host, patience_ms, 56),
    AT(muster_host, reduce, 64),
    SIZE(muster_backend_info, 324),
    AT(muster_backend_info, version, 4),
    AT(muster_backend_info, details, 68),
    SIZE(muster_open_args, 80),
    AT(muster_open_args, rank, 4),
    AT(muster_open_args, num_ranks, 8),
    AT(muster_open_args, group_name, 16),
    AT(muster_open_args, timeout_ms, 24),
    AT(muster_open_args, address, 32),
    AT(muster_open_args, one_host, 40),
    AT(muster_open_args, ranks_here, 44),
    AT(muster_open_args, cores_here, 48),
    AT(muster_open_args, device, 52),
    AT(muster_open_args, stream, 56),
    AT(muster_open_args, parent, 64),
    AT(muster_open_args, color, 72),
    SIZE(muster_option, 64),
    AT(muster_option, type, 8),
    AT(muster_option, default_value, 16),
    AT(muster_option, since, 24),
    AT(muster_option, until, 32),
    AT(muster_option, aliases, 40),
    AT(muster_option, environment, 48),
    AT(muster_option, help, 56),
    SIZE(muster_backend, 176),
    AT(muster_backend, abi, 0),
    AT(muster_backend, size, 4),
    AT(muster_backend, name, 8),
    AT(muster_backend, priority, 16),
    AT(muster_backend, options, 24),
    AT(muster_backend, probe, 32),
    AT(muster_backend, open, 40),
    AT(muster_backend, post_send, 48),
    AT(muster_backend, post_recv, 56),
    AT(muster_backend, wait, 64),
    AT(muster_backend, abort, 72),
    AT(muster_backend, close, 80),
    AT(muster_backend, forget, 88),
    AT(muster_backend, describe, 96),
    AT(muster_backend, suspects, 104),
    AT(muster_backend, left, 112),
    AT(muster_backend, has_come, 120),
    AT(muster_backend, devices, 128),
    AT(muster_backend, can, 136),
    AT(muster_backend, call, 144),
    AT(muster_backend, test, 152),
    AT(muster_backend, run, 160),
    AT(muster_backend, traffic, 168),
    SIZE(muster_memory_place, 12),
    AT(muster_memory_place, kind, 4),
    AT(muster_memory_place, device, 8),
    SIZE(muster_device_info, 240),
    AT(muster_device_info, name, 4),
    AT(muster_device_info, uuid, 132),
    AT(muster_device_info, bus_id, 196),
    AT(muster_device_info, slice, 228),
    AT(muster_device_info, compute_major, 232),
    AT(muster_device_info, compute_minor, 236),
    SIZE(muster_device_table, 104),
    AT(muster_device_table, in_use, 8),
    AT(muster_device_table, locate, 40),
    AT(muster_device_table, copy_wait, 96),
    SIZE(muster_call, 160),
    AT(muster_call, operation, 4),
    AT(muster_call, type, 8),
    AT(muster_call, redop, 12),
    AT(muster_call, scalar, 16),
    AT(muster_call, root, 24),
    AT(muster_call, count, 32),
    AT(muster_call, send, 40),
    AT(muster_call, receive, 48),
    AT(muster_call, uniform, 56),
    AT(muster_call, send_counts, 64),
    AT(muster_call, receive_offsets, 88),
    AT(muster_call, transfers, 96),
    AT(muster_call, num_transfers, 104),
    AT(muster_call, stream, 112),
    AT(muster_call, timeout_ms, 120),
    AT(muster_call, label, 128),
    AT(muster_call, label_size, 136),
    AT(muster_call, other_label, 144),
    AT(muster_call, other_rank, 152),
};

#define IS(constant, value)                                                                        \
    {                                                                                              \
#constant, value, (size_t)constant                                                         \
    }

static const field numbers[] = {
    IS(MUSTER_OK, 0),
    IS(MUSTER_ERR_ARGUMENT, 1),
    IS(MUSTER_ERR_NO_MEMORY, 2),
    IS(MUSTER_ERR_TIMEOUT, 3),
    IS(MUSTER_ERR_NOT_FOUND, 4),
    IS(MUSTER_ERR_EXISTS, 5),
    IS(MUSTER_ERR_MISMATCH, 6),
    IS(MUSTER_ERR_UNSUPPORTED, 7),
    IS(MUSTER_ERR_UNAVAILABLE, 8),
    IS(MUSTER_ERR_NOT_MEMBER, 9),
    IS(MUSTER_ERR_PEER_LOST, 10),
    IS(MUSTER_ERR_FAILED, 11),
    IS(MUSTER_ERR_REMOTE, 12),
    IS(MUSTER_ERR_SYSTEM, 13),
    IS(MUSTER_ERR_PROTOCOL, 14),
    IS(MUSTER_ERR_FORKED, 15),
    IS(MUSTER_ERR_INTERNAL, 16),
    IS(MUSTER_LOG_NONE, 0),
    IS(MUSTER_LOG_WARNING, 1),
    IS(MUSTER_LOG_INFO, 2),
    IS(MUSTER_LOG_DEBUG, 3),
    IS(MUSTER_INT8, 0),
    IS(MUSTER_UINT8, 1),
    IS(MUSTER_INT32, 2),
    IS(MUSTER_UINT32, 3),
    IS(MUSTER_INT64, 4),
    IS(MUSTER_UINT64, 5),
    IS(MUSTER_FLOAT32, 6),
    IS(MUSTER_FLOAT64, 7),
    IS(MUSTER_FLOAT16, 8),
    IS(MUSTER_BFLOAT16, 9),
    IS(MUSTER_FLOAT8_E4M3, 10),
    IS(MUSTER_FLOAT8_E5M2, 11),
    IS(MUSTER_BOOL, 12),
    IS(MUSTER_SUM, 0),
    IS(MUSTER_PROD, 1),
    IS(MUSTER_MIN, 2),
    IS(MUSTER_MAX, 3),
    IS(MUSTER_AVG, 4),
    IS(MUSTER_BAND, 5),
    IS(MUSTER_BOR, 6),
    IS(MUSTER_BXOR, 7),
    IS(MUSTER_PREMUL_SUM, 8),
    IS(MUSTER_OPTION_STRING, 0),
    IS(MUSTER_OPTION_INTEGER, 1),
    IS(MUSTER_OPTION_BOOLEAN, 2),
    IS(MUSTER_BACKEND_ABI, 1),
    IS(MUSTER_NO_COLOR, (size_t)-1),
    IS(MUSTER_TIMEOUT_DEFAULT, (size_t)-1),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void check(const field *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        is_int((long long)list[i].found, (long long)list[i].expected, "%s", list[i].name);
}

int main(void)
{
    plan((int)(COUNT(numbers) + COUNT(fields)) + 1);
    check(numbers, COUNT(numbers));
    if (sizeof(void *) == 8 && _Alignof(int64_t) == 8)
        check(fields, COUNT(fields));
    else
        skip((int)COUNT(fields), "the layouts here are those of 64-bit machines");
    is_str(MUSTER_BACKEND_SYMBOL, "muster_backend_1", "the symbol of a plugin");
    return done();
}
