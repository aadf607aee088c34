/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plain model of the reductions. Integers go by way of uint64_t, in which they wrap.
 */
#include "config.h"

#include "model.h"
#include "tap.h"

#include <stdlib.h>

#define WHOLE(rank, i) ((uint64_t)(rank)*40503u + (uint64_t)(i)*2654435761u - 77u)
#define BROKEN(rank, i) (((rank) + 1) * 0.1 + (double)((i) % 97) * 0.37 - 3)

#define MODEL(name, ctype, wide, value)                                                            \
    static void fill_##name(ctype *out, int rank, size_t count)                                    \
    {                                                                                              \
        for (size_t i = 0; i < count; i++)                                                         \
            out[i] = (ctype)value(rank, i);                                                        \
    }                                                                                              \
    static ctype fold_##name(ctype a, ctype b, muster_reduction redop)                             \
    {                                                                                              \
        if (redop == MUSTER_SUM)                                                                   \
            return (ctype)((wide)a + (wide)b);                                                     \
        if (redop == MUSTER_PROD)                                                                  \
            return (ctype)((wide)a * (wide)b);                                                     \
        return (redop == MUSTER_MIN) == (a < b) ? a : b;                                           \
    }
MODEL(INT8, int8_t, uint64_t, WHOLE)
MODEL(UINT8, uint8_t, uint64_t, WHOLE)
MODEL(INT32, int32_t, uint64_t, WHOLE)
MODEL(UINT32, uint32_t, uint64_t, WHOLE)
MODEL(INT64, int64_t, uint64_t, WHOLE)
MODEL(UINT64, uint64_t, uint64_t, WHOLE)
MODEL(FLOAT32, float, float, BROKEN)
MODEL(FLOAT64, double, double, BROKEN)

void model_fill(void *out, muster_type type, int rank, size_t count)
{
    switch (type) {
#define FILL(name, size, ctype)                                                                    \
    case MUSTER_##name:                                                                            \
        fill_##name(out, rank, count);                                                             \
        break;
        MUSTER_TYPE_MAP(FILL)
    default:
        bail_out("no type %d", (int)type);
    }
}

void model_fold(void *into, const void *more, muster_type type, muster_reduction redop,
                size_t count)
{
    switch (type) {
#define FOLD(name, size, ctype)                                                                    \
    case MUSTER_##name:                                                                            \
        for (size_t i = 0; i < count; i++)                                                         \
            ((ctype *)into)[i] = fold_##name(((ctype *)into)[i], ((const ctype *)more)[i], redop); \
        break;
        MUSTER_TYPE_MAP(FOLD)
    default:
        bail_out("no type %d", (int)type);
    }
}

void *model_all_reduce(muster_type type, muster_reduction redop, int size, size_t count)
{
    size_t bytes = count * muster_type_size(type);
    void *result = malloc(bytes + 1), *more = malloc(bytes + 1);
    if (result == NULL || more == NULL)
        bail_out("no memory");
    model_fill(result, type, 0, count);
    for (int r = 1; r < size; r++) {
        model_fill(more, type, r, count);
        model_fold(result, more, type, redop, count);
    }
    free(more);
    return result;
}
