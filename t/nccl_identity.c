/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the ranks of an NCCL communicator tell each other and must agree on, and types, reductions
 * and scalars in NCCL's terms. Needs no device.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/host.h"
#include "identity.h"
#include "nccl_api.h"
#include "slow_floats.h"
#include "tap.h"
#include "types.h"

enum { RANKS = 4 };

static unsigned char bytes[RANKS][IDENTITY_SIZE];
static muster_blob blobs[RANKS];

static identity identity_like(int rank)
{
    identity one = {.rank = rank,
                    .size = RANKS,
                    .version = 22809,
                    .device = rank,
                    .compute = 90 + rank,
                    .host = "here",
                    .boot = "0123456789abcde"};
    snprintf(one.uuid, sizeof(one.uuid), "GPU-%d", rank);
    snprintf(one.bus_id, sizeof(one.bus_id), "0000:%02x:00.0", rank);
    memset(&one.id, 'a' + rank, sizeof(one.id));
    return one;
}

static void write_one(const identity *one, int rank)
{
    identity_write(one, bytes[rank]);
    blobs[rank] = (muster_blob){bytes[rank], IDENTITY_SIZE};
}

static void write_all(void)
{
    for (int r = 0; r < RANKS; r++) {
        identity one = identity_like(r);
        write_one(&one, r);
    }
}

static muster_status check(void)
{
    identity first;
    int compute;
    return identity_check(blobs, RANKS, &first, &compute);
}

/* 2 points: rank 2 says one that differs. */
static void expect_refused(const identity *odd, muster_status status, const char *part)
{
    write_all();
    write_one(odd, 2);
    is_int(check(), status, "refused");
    has_str(muster_last_error(), part, "in words");
}

static void test_agreement(void)
{
    identity first;
    int compute = 0;
    write_all();
    is_int(identity_check(blobs, RANKS, &first, &compute), MUSTER_OK, "all agree");
    is_int(compute, 90, "the least of their devices counts");
    ok(first.version == 22809 && first.device == 0 && strcmp(first.uuid, "GPU-0") == 0 &&
           strcmp(first.bus_id, "0000:00:00.0") == 0 && strcmp(first.host, "here") == 0 &&
           memcmp(first.boot, "0123456789abcde", 16) == 0 && first.id.internal[127] == 'a',
       "what was written is read");
}

static void test_disagreement(void)
{
    identity odd = identity_like(2);
    odd.version = 21805;
    snprintf(odd.host, sizeof(odd.host), "there");
    expect_refused(&odd, MUSTER_ERR_MISMATCH,
                   "rank 2 on host 'there' has NCCL 2.18.5 and rank 0 on host 'here' has NCCL "
                   "2.28.9");
    odd = identity_like(2);
    odd.splits = true;
    expect_refused(&odd, MUSTER_ERR_MISMATCH,
                   "rank 2 wants to make the communicator out of its parent's and rank 0 anew");
    odd = identity_like(2);
    snprintf(odd.uuid, sizeof(odd.uuid), "GPU-1");
    expect_refused(&odd, MUSTER_ERR_MISMATCH,
                   "rank 1 on host 'here' and rank 2 on host 'here' use the same GPU");
    odd = identity_like(3);
    expect_refused(&odd, MUSTER_ERR_MISMATCH, "rank 2 of 4 published itself as rank 3 of 4");
}

/* By the bus where there is no UUID, and then on one host alone. */
static void test_devices(void)
{
    identity a = identity_like(1), b = identity_like(2);
    write_all();
    a.uuid[0] = b.uuid[0] = '\0';
    snprintf(b.bus_id, sizeof(b.bus_id), "%s", a.bus_id);
    write_one(&a, 1);
    write_one(&b, 2);
    is_int(check(), MUSTER_ERR_MISMATCH, "the same bus id is the same device");
    b.boot[0] = 'x';
    write_one(&b, 2);
    is_int(check(), MUSTER_OK, "but on another host");
    a = identity_like(1);
    b = identity_like(2);
    snprintf(b.bus_id, sizeof(b.bus_id), "%s", a.bus_id);
    write_one(&a, 1);
    write_one(&b, 2);
    is_int(check(), MUSTER_OK, "parts of one device have a UUID each");
}

/* Whatever the bytes, nothing is read beyond them, and it is an answer. */
static void test_mangled(void)
{
    bool refused = true, answered = true;
    for (size_t size = 0; size < IDENTITY_SIZE; size++) {
        write_all();
        blobs[1].size = size;
        refused = refused && check() == MUSTER_ERR_PROTOCOL;
    }
    ok(refused, "what is too short is refused");
    for (int i = 0; i < IDENTITY_SIZE; i++) {
        enum { FLAGS = 6, SPARE = 7, HEADER = 20 };
        write_all();
        bytes[1][i] ^= 0x55;
        muster_status status = check();
        bool counts = i < HEADER && i != FLAGS && i != SPARE;
        answered = answered && (status == MUSTER_ERR_PROTOCOL || status == MUSTER_ERR_MISMATCH ||
                                (status == MUSTER_OK && !counts));
    }
    ok(answered, "each byte of the header counts");
    write_all();
    memset(bytes[1] + 44, 'z', 192);
    is_int(check(), MUSTER_OK, "texts without an end are cut");
}

/* ---- types ---- */

static void test_reductions(void)
{
    bool right = true;
    for (int t = 0; t < MUSTER_NUM_TYPES; t++)
        for (int k = 0; k < MUSTER_NUM_REDUCTIONS; k++) {
            bool bitwise = k == MUSTER_BAND || k == MUSTER_BOR || k == MUSTER_BXOR;
            bool fp8 = t == MUSTER_FLOAT8_E4M3 || t == MUSTER_FLOAT8_E5M2;
            bool floating = t >= MUSTER_FLOAT32 && t <= MUSTER_BFLOAT16;
            bool scales = k == MUSTER_AVG || k == MUSTER_PREMUL_SUM;
            bool expected =
                !bitwise && t != MUSTER_BOOL && !(k == MUSTER_AVG && !floating) && !(fp8 && scales);
            muster_type type = (muster_type)t;
            muster_reduction kind = (muster_reduction)k;
            right = right && types_can_reduce(type, kind, 22809, 90) == expected;
            right = right && types_can_reduce(type, kind, 22809, 80) == (expected && !fp8);
            right = right && types_can_reduce(type, kind, 22304, 90) == (expected && !fp8);
        }
    ok(right, "what can be reduced, by type, reduction, version and device");
    bool moved = true;
    for (int t = 0; t < MUSTER_NUM_TYPES; t++)
        moved = moved && types_to_move((muster_type)t) <= NCCL_BFLOAT16 &&
                types_width((muster_type)t) == muster_type_size((muster_type)t);
    ok(moved, "all types are moved by what every version has");
    ok(types_op(MUSTER_MIN) == NCCL_MIN && types_op(MUSTER_MAX) == NCCL_MAX &&
           types_op(MUSTER_PROD) == NCCL_PROD && types_op(MUSTER_SUM) == NCCL_SUM &&
           types_op(MUSTER_AVG) == NCCL_AVG,
       "NCCL's own reductions");
}

/* ---- scalars ---- */

static bool small_right(muster_type type, int format)
{
    static const double values[] = {
        0,     -0.0,  1,     -1,     0.1,    -0.3,   1.0 / 3, 65504,   65519,    65520,
        1e9,   1e-9,  6e-8,  5.9e-8, 3e-8,   6.1e-5, 1e38,    3.39e38, 3.4e38,   1e300,
        1e-40, 9e-41, 1e-45, 2049,   2051.0, 257,    259,     0.5,     INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        uint16_t got = 0;
        types_scalar(type, values[i], &got);
        uint32_t expected = slow_write(&slow_formats[format], values[i]);
        if (got != expected) {
            diag("%g: %04x, expected %04x", values[i], got, expected);
            return false;
        }
    }
    return true;
}

static void test_scalars(void)
{
    int8_t one;
    int32_t four;
    uint64_t eight;
    float single;
    double wide;
    ok(types_scalar(MUSTER_INT8, -3, &one) == 1 && one == -3, "int8");
    ok(types_scalar(MUSTER_INT32, -70000, &four) == 4 && four == -70000, "int32");
    ok(types_scalar(MUSTER_UINT64, 0x1p63, &eight) == 8 && eight == UINT64_C(1) << 63, "uint64");
    ok(types_scalar(MUSTER_INT64, -0x1p63, &eight) == 8 && eight == UINT64_C(1) << 63, "int64");
    ok(types_scalar(MUSTER_FLOAT32, 0.1, &single) == 4 && single == 0.1F, "float32");
    ok(types_scalar(MUSTER_FLOAT64, 0.1, &wide) == 8 && wide == 0.1, "float64");
    ok(small_right(MUSTER_FLOAT16, SLOW_FLOAT16), "float16");
    ok(small_right(MUSTER_BFLOAT16, SLOW_BFLOAT16), "bfloat16");
    uint16_t two = 0;
    types_scalar(MUSTER_FLOAT16, NAN, &two);
    ok((two & 0x7fff) > 0x7c00, "a NaN stays one");
}

int main(void)
{
    plan(3 + 8 + 3 + 3 + 3 + 9);
    nccl_host = &host_functions;
    test_agreement();
    test_disagreement();
    test_devices();
    test_mangled();
    test_reductions();
    test_scalars();
    return done();
}
