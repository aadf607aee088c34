/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A tiny language model: the next token follows from the last two. What is to be learned is to go
 * on with the alphabet, "w" with "xyz".
 */
#ifndef MODEL_H
#define MODEL_H

#include <muster.h>

enum {
    VOCABULARY = 128, /* tokens are characters; 0 ends an answer */
    NUM_TENSORS = 3,
    NUM_WEIGHTS = 2 * VOCABULARY * VOCABULARY + VOCABULARY,
    ANSWER_MOST = 40
};

/* What engines compute with and what is sent to them. */
typedef struct model {
    int64_t version;
    uint16_t near[VOCABULARY * VOCABULARY]; /* bfloat16: what the last token speaks for */
    uint16_t far[VOCABULARY * VOCABULARY];  /* bfloat16: the same of the one before */
    float bias[VOCABULARY];
} model;

typedef struct tensor {
    const char *name;
    muster_type type;
    size_t count;
    void *data;
} tensor;

/* The tensors of a model, in the order in which they are sent. */
void model_tensors(model *model, tensor tensors[NUM_TENSORS]);

/* Of all weights and the version. */
uint64_t model_checksum(model *model);

/* What speaks for each of the tokens first to before last as the next one. */
void model_scores(const model *model, const int64_t *text, size_t length, int first, int last,
                  float *scores);

/* The token for which most speaks. */
int64_t model_best(const float scores[VOCABULARY]);

/* The token that is right there. */
int64_t model_right(const int64_t *text, size_t length);

/* Training has all weights, near and far and bias, in float. Adds what the first wrong token of
 * an answer says of how they are to change. */
void model_learn(const model *model, const int64_t *prompt, size_t prompt_length,
                 const int64_t *answer, size_t answer_length, float gradient[NUM_WEIGHTS]);

/* Changes the weights, and makes the next version of the model of them. */
void model_step(model *model, float weights[NUM_WEIGHTS], const float gradient[NUM_WEIGHTS]);

#endif
