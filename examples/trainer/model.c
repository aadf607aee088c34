/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A tiny language model.
 */
#include "model.h"

#include <string.h>

static const float near_rate = 1, far_rate = 0.25F, bias_rate = 0.0625F;

void model_tensors(model *model, tensor tensors[NUM_TENSORS])
{
    const size_t pairs = (size_t)VOCABULARY * VOCABULARY;
    tensors[0] = (tensor){"near", MUSTER_BFLOAT16, pairs, model->near};
    tensors[1] = (tensor){"far", MUSTER_BFLOAT16, pairs, model->far};
    tensors[2] = (tensor){"bias", MUSTER_FLOAT32, VOCABULARY, model->bias};
}

uint64_t model_checksum(model *model)
{
    tensor tensors[NUM_TENSORS];
    uint64_t sum = UINT64_C(14695981039346656037) ^ (uint64_t)model->version;
    model_tensors(model, tensors);
    for (int t = 0; t < NUM_TENSORS; t++) {
        const unsigned char *bytes = tensors[t].data;
        for (size_t i = 0; i < tensors[t].count * muster_type_size(tensors[t].type); i++)
            sum = (sum ^ bytes[i]) * UINT64_C(1099511628211);
    }
    return sum;
}

/* A bfloat16 is the upper half of a float; rounded to the nearest, ties to even. */
static uint16_t to_bfloat16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float from_bfloat16(uint16_t value)
{
    uint32_t bits = (uint32_t)value << 16;
    float result;
    memcpy(&result, &bits, sizeof(result));
    return result;
}

static size_t before(const int64_t *text, size_t length, size_t back)
{
    return length < back ? 0 : (size_t)text[length - back] % VOCABULARY;
}

void model_scores(const model *model, const int64_t *text, size_t length, int first, int last,
                  float *scores)
{
    size_t near = before(text, length, 1) * VOCABULARY, far = before(text, length, 2) * VOCABULARY;
    for (size_t n = (size_t)first; n < (size_t)last; n++)
        scores[n] = from_bfloat16(model->near[near + n]) + from_bfloat16(model->far[far + n]) +
                    model->bias[n];
}

int64_t model_right(const int64_t *text, size_t length)
{
    size_t last = before(text, length, 1);
    return last >= 'a' && last < 'z' ? (int64_t)last + 1 : 0;
}

int64_t model_best(const float scores[VOCABULARY])
{
    int best = 0;
    for (int n = 1; n < VOCABULARY; n++)
        if (scores[n] > scores[best])
            best = n;
    return best;
}

/* Where the model takes another token than the right one, less is to speak for that one and more
 * for the right one. Returns whether it does. */
static bool learn_token(const model *model, const int64_t *text, size_t length, float *gradient)
{
    float *const near = gradient + before(text, length, 1) * VOCABULARY;
    float *const far = gradient + (VOCABULARY + before(text, length, 2)) * VOCABULARY;
    float *const bias = gradient + (size_t)2 * VOCABULARY * VOCABULARY;
    float scores[VOCABULARY];
    model_scores(model, text, length, 0, VOCABULARY, scores);
    int64_t best = model_best(scores), right = model_right(text, length);
    near[best] += near_rate, far[best] += far_rate, bias[best] += bias_rate;
    near[right] -= near_rate, far[right] -= far_rate, bias[right] -= bias_rate;
    return best != right;
}

void model_learn(const model *model, const int64_t *prompt, size_t prompt_length,
                 const int64_t *answer, size_t answer_length, float gradient[NUM_WEIGHTS])
{
    int64_t text[256];
    if (prompt_length + answer_length > sizeof(text) / sizeof(text[0]))
        return;
    memcpy(text, prompt, prompt_length * sizeof(*text));
    memcpy(text + prompt_length, answer, answer_length * sizeof(*text));
    size_t length = prompt_length;
    while (!learn_token(model, text, length, gradient) && length < prompt_length + answer_length)
        length++;
}

void model_step(model *model, float weights[NUM_WEIGHTS], const float gradient[NUM_WEIGHTS])
{
    const size_t pairs = (size_t)VOCABULARY * VOCABULARY;
    for (size_t i = 0; i < NUM_WEIGHTS; i++)
        weights[i] -= gradient[i];
    for (size_t i = 0; i < pairs; i++) {
        model->near[i] = to_bfloat16(weights[i]);
        model->far[i] = to_bfloat16(weights[pairs + i]);
    }
    memcpy(model->bias, weights + 2 * pairs, sizeof(model->bias));
    model->version++;
}
