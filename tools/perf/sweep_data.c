/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What ranks send while muster-perf measures, and whether what comes of it is right.
 *
 * Each rank has a pattern of PERIOD small numbers, over and over. Where a block is one of several
 * that a rank sends, it begins STRIDE further on in the pattern than the one before. So few numbers
 * are worked out once, by plain arithmetic; those of a reduction are chosen so that every type
 * holds the result, of averages the nearest.
 */
#include "config.h"

#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Both are prime. */
enum { PERIOD = 1021, STRIDE = 131 };

/* Of so many ranks the sum or product is more than the neutral number. */
enum { CONTRIBUTORS = 4 };

struct sweep_data {
    size_t width;
    unsigned char *ranks;   /* the pattern of each rank */
    unsigned char *reduced; /* and of the result */
};

static unsigned data_mix(unsigned rank, unsigned i)
{
    unsigned x = (rank + 1) * 2654435761u ^ (i + 1) * 2246822519u;
    x = (x ^ x >> 15) * 739982445u;
    return x >> 16;
}

static bool data_is_sum(muster_reduction kind)
{
    return kind == MUSTER_SUM || kind == MUSTER_AVG || kind == MUSTER_PREMUL_SUM;
}

/* The number that a rank has at place i. */
static int data_number(const sweep_call *one, int rank, int i)
{
    unsigned mixed = data_mix((unsigned)rank, (unsigned)i);
    bool gives = (rank + i) % one->size < CONTRIBUTORS;
    if (one->type == MUSTER_BOOL)
        return mixed & 1;
    if (one->operation->reduces && data_is_sum(one->kind))
        return gives ? 1 + (int)(mixed & 1) : 0;
    if (one->operation->reduces && one->kind == MUSTER_PROD)
        return gives ? 1 + (int)(mixed & 1) : 1;
    return (int)(mixed & (one->operation->reduces ? 7 : 127));
}

static int data_join(const sweep_call *one, int a, int b)
{
    bool truth = one->type == MUSTER_BOOL;
    switch (one->kind) {
    case MUSTER_PROD:
        return a * b;
    case MUSTER_MIN:
        return a < b ? a : b;
    case MUSTER_MAX:
        return a > b ? a : b;
    case MUSTER_BAND:
        return a & b;
    case MUSTER_BOR:
        return a | b;
    case MUSTER_BXOR:
        return a ^ b;
    default:
        return truth ? a | b : a + b;
    }
}

static bool data_is_float(muster_type type)
{
    return type == MUSTER_FLOAT64 || type == MUSTER_FLOAT32 || type == MUSTER_FLOAT16 ||
           type == MUSTER_BFLOAT16 || type == MUSTER_FLOAT8_E4M3 || type == MUSTER_FLOAT8_E5M2;
}

/* What the reduction makes of all ranks' numbers at place i. */
static double data_result(const sweep_call *one, int i)
{
    int all = data_number(one, 0, i);
    for (int rank = 1; rank < one->size; rank++)
        all = data_join(one, all, data_number(one, rank, i));
    if (one->kind == MUSTER_PREMUL_SUM)
        return 2.0 * all;
    if (one->kind != MUSTER_AVG)
        return all;
    if (!data_is_float(one->type))
        return all / one->size;
    return one->type == MUSTER_FLOAT64 ? (double)all / one->size
                                       : (double)((float)all / (float)one->size);
}

/* The bits of the nearest number, which is not below 0, in a format of so many bits of exponent and
 * of fraction. */
static unsigned data_small_float(double value, int exponent_bits, int fraction_bits)
{
    int least = 2 - (1 << (exponent_bits - 1)); /* of the numbers with a leading 1 */
    int exponent;
    frexp(value, &exponent);
    exponent = value == 0 || exponent - 1 < least ? least : exponent - 1;
    double steps = nearbyint(ldexp(value, fraction_bits - exponent));
    return ((unsigned)(exponent - least) << fraction_bits) + (unsigned)steps;
}

static void data_encode(muster_type type, double value, unsigned char *at)
{
    uint64_t whole = (uint64_t)value;
    float single = (float)value;
    uint16_t two = 0;
    switch (type) {
    case MUSTER_FLOAT64:
        memcpy(at, &value, sizeof(value));
        return;
    case MUSTER_FLOAT32:
        memcpy(at, &single, sizeof(single));
        return;
    case MUSTER_FLOAT16:
    case MUSTER_BFLOAT16:
        two = (uint16_t)(type == MUSTER_FLOAT16 ? data_small_float(value, 5, 10)
                                                : data_small_float(value, 8, 7));
        memcpy(at, &two, sizeof(two));
        return;
    case MUSTER_FLOAT8_E4M3:
    case MUSTER_FLOAT8_E5M2:
        *at = (unsigned char)(type == MUSTER_FLOAT8_E4M3 ? data_small_float(value, 4, 3)
                                                         : data_small_float(value, 5, 2));
        return;
    default:
        break;
    }
    /* Integers are taken by their low bytes, wherever these are. */
    uint32_t four = (uint32_t)whole;
    if (muster_type_size(type) == sizeof(whole))
        memcpy(at, &whole, sizeof(whole));
    else if (muster_type_size(type) == sizeof(four))
        memcpy(at, &four, sizeof(four));
    else
        *at = (unsigned char)whole;
}

sweep_data *sweep_data_new(const sweep_call *one)
{
    size_t width = muster_type_size(one->type), pattern = PERIOD * width;
    sweep_data *data = malloc(sizeof(*data));
    if (data == NULL)
        return NULL;
    *data = (sweep_data){width, malloc(pattern * (size_t)one->size), malloc(pattern)};
    if (data->ranks == NULL || data->reduced == NULL) {
        sweep_data_free(data);
        return NULL;
    }
    for (int i = 0; i < PERIOD; i++) {
        for (int rank = 0; rank < one->size; rank++)
            data_encode(one->type, data_number(one, rank, i),
                        data->ranks + (size_t)rank * pattern + (size_t)i * width);
        if (one->operation->reduces)
            data_encode(one->type, data_result(one, i), data->reduced + (size_t)i * width);
    }
    return data;
}

void sweep_data_free(sweep_data *data)
{
    if (data == NULL)
        return;
    free(data->ranks);
    free(data->reduced);
    free(data);
}

static const unsigned char *data_pattern(const sweep_data *data, int rank)
{
    return data->ranks + (size_t)rank * PERIOD * data->width;
}

/* Where in the pattern a block for a rank begins. */
static size_t data_start(const sweep_call *one, int receiver)
{
    return one->operation->sends_blocks ? (size_t)receiver * STRIDE % PERIOD : 0;
}

static void data_write(const sweep_data *data, unsigned char *at, size_t count, size_t start,
                       const unsigned char *pattern)
{
    while (count > 0) {
        size_t part = PERIOD - start < count ? PERIOD - start : count;
        memcpy(at, pattern + start * data->width, part * data->width);
        at += part * data->width;
        count -= part;
        start = 0;
    }
}

static long long data_compare(const sweep_data *data, const unsigned char *at, size_t count,
                              size_t start, const unsigned char *pattern)
{
    long long wrong = 0;
    while (count > 0) {
        size_t part = PERIOD - start < count ? PERIOD - start : count;
        const unsigned char *right = pattern + start * data->width;
        if (memcmp(at, right, part * data->width) != 0)
            for (size_t i = 0; i < part; i++)
                wrong += memcmp(at + i * data->width, right + i * data->width, data->width) != 0;
        at += part * data->width;
        count -= part;
        start = 0;
    }
    return wrong;
}

/* What nobody sends. */
static void data_spoil(unsigned char *at, size_t bytes)
{
    if (bytes > 0)
        memset(at, 0x5a, bytes);
}

static size_t data_received(const sweep_call *one)
{
    const sweep_operation *operation = one->operation;
    if (operation->receives_blocks)
        return one->total;
    return operation->sends_blocks ? one->counts[one->rank] : one->base;
}

void sweep_data_fill(const sweep_data *data, const sweep_call *one)
{
    const sweep_operation *operation = one->operation;
    const unsigned char *mine = data_pattern(data, one->rank);
    data_spoil(one->receive, data_received(one) * data->width);
    bool silent = one->rank != one->root && operation->rooted && !operation->reduces &&
                  !operation->receives_blocks;
    if (silent)
        return;
    for (int b = 0; operation->sends_blocks && b < one->size; b++)
        data_write(data, one->send + sweep_offset(one, b) * data->width, one->counts[b],
                   data_start(one, b), mine);
    if (!operation->sends_blocks)
        data_write(data, one->send, operation->receives_blocks ? one->counts[one->rank] : one->base,
                   0, mine);
}

/* Who the only block that this rank receives is from. */
static int data_sender(const sweep_call *one)
{
    return one->operation->rooted ? one->root : (one->rank + one->size - 1) % one->size;
}

long long sweep_data_wrong(const sweep_data *data, const sweep_call *one)
{
    const sweep_operation *operation = one->operation;
    size_t start = data_start(one, one->rank);
    bool to_root = operation->rooted && (operation->reduces || operation->receives_blocks);
    long long wrong = 0;
    if (to_root && one->rank != one->root)
        return 0;
    if (!operation->receives_blocks)
        return data_compare(data, one->receive, data_received(one), start,
                            operation->reduces ? data->reduced
                                               : data_pattern(data, data_sender(one)));
    for (int b = 0; b < one->size; b++)
        wrong += data_compare(data, one->receive + sweep_offset(one, b) * data->width,
                              one->counts[b], start, data_pattern(data, b));
    return wrong;
}
