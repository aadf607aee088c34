/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ranks that train. Rank 0 sends the weights and the prompts to the engines and gets their
 * answers; all of them learn from these together, each from its share.
 *
 *     muster-run -n 2 ./trainer MEET ENGINES
 */
#include "sync.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSIONS = 8, PROMPTS = 6 };

static const char *const prompts[PROMPTS] = {"alpha", "scarf", "trek", "hop", "menu", "fuzz"};

static struct {
    model model;
    float weights[NUM_WEIGHTS], gradient[NUM_WEIGHTS];
} training;

static muster_group *world, *engines; /* engines: on rank 0 alone */

static int failed(const char *what)
{
    fprintf(stderr, "trainer: %s\n", what);
    muster_report_failure(what);
    return 1;
}

/* The prompts as token ids, one behind the other. */
static void tokenize(size_t lengths[PROMPTS], int64_t *tokens)
{
    for (int p = 0; p < PROMPTS; p++) {
        lengths[p] = strlen(prompts[p]);
        for (size_t i = 0; i < lengths[p]; i++)
            *tokens++ = prompts[p][i];
    }
}

/* One round with the engines: they get the weights and the prompts, and the trainer the answers. */
static muster_status ask_engines(muster_token_lists questions, muster_tokens **answers)
{
    order order = {training.model.version, model_checksum(&training.model)};
    const muster_token_lists none = {0, NULL, NULL};
    muster_tokens *asked;
    muster_status status = sync_weights(engines, &training.model, &order);
    if (status == MUSTER_OK)
        status = muster_all_gather_tokens(engines, &questions, &asked);
    if (status != MUSTER_OK)
        return status;
    muster_tokens_free(asked); /* they are the trainer's own */
    return muster_gather_tokens(engines, &none, TRAINER, answers);
}

/* Where an engine is lost on the way the round is made again with the others. */
static muster_status ask(muster_token_lists questions, muster_tokens **answers)
{
    muster_status status = ask_engines(questions, answers);
    while (status == MUSTER_ERR_PEER_LOST) {
        printf("trainer: %s\n", muster_last_error());
        status = sync_recover(&engines);
        if (status == MUSTER_OK && sync_engines(engines) == 0) {
            fprintf(stderr, "trainer: no engine is left\n");
            return MUSTER_ERR_PEER_LOST;
        }
        if (status == MUSTER_OK)
            status = ask_engines(questions, answers);
    }
    if (status == MUSTER_OK && (*answers)->num_lists != PROMPTS) {
        fprintf(stderr, "trainer: %zu answers came\n", (*answers)->num_lists);
        status = MUSTER_ERR_MISMATCH;
    }
    return status;
}

static bool is_right(int prompt, const int64_t *answer, size_t length)
{
    int64_t text[64 + ANSWER_MOST];
    size_t at = strlen(prompts[prompt]);
    for (size_t i = 0; i < at; i++)
        text[i] = prompts[prompt][i];
    for (size_t i = 0; i < length; text[at++] = answer[i++])
        if (answer[i] != model_right(text, at))
            return false;
    return model_right(text, at) == 0;
}

static int report(const muster_tokens *answers)
{
    int right = 0;
    for (int p = 0; p < PROMPTS; p++) {
        size_t begin = answers->list_offsets[p], end = answers->list_offsets[p + 1];
        right += is_right(p, answers->tokens + begin, end - begin);
    }
    printf("trainer: version %" PRId64 ", checksum %016" PRIx64 ", engines %d: "
           "%d answers of %zu tokens, %d right\n",
           training.model.version, model_checksum(&training.model), sync_engines(engines), PROMPTS,
           answers->num_tokens, right);
    fflush(stdout);
    return right;
}

/* All ranks get the answers of rank 0, learn from their share, and change their weights alike. */
static muster_status learn(const muster_tokens *answers, const size_t *lengths,
                           const int64_t *tokens)
{
    int rank = muster_group_rank(world), size = muster_group_size(world);
    size_t answer_lengths[PROMPTS];
    muster_token_lists mine = {0, NULL, NULL};
    muster_tokens *all;
    for (int p = 0; p < PROMPTS && answers != NULL; p++)
        answer_lengths[p] = answers->list_offsets[p + 1] - answers->list_offsets[p];
    if (answers != NULL)
        mine = (muster_token_lists){PROMPTS, answer_lengths, answers->tokens};
    muster_status status = muster_all_gather_tokens(world, &mine, &all);
    if (status != MUSTER_OK)
        return status;
    memset(training.gradient, 0, sizeof(training.gradient));
    for (int p = 0; p < PROMPTS; tokens += lengths[p++])
        if (p % size == rank)
            model_learn(&training.model, tokens, lengths[p], all->tokens + all->list_offsets[p],
                        all->list_offsets[p + 1] - all->list_offsets[p], training.gradient);
    muster_tokens_free(all);
    status = muster_all_reduce(world, training.gradient, training.gradient, NUM_WEIGHTS,
                               MUSTER_FLOAT32, MUSTER_SUM, NULL);
    if (status == MUSTER_OK)
        model_step(&training.model, training.weights, training.gradient);
    return status;
}

static muster_status train(int *right)
{
    size_t lengths[PROMPTS];
    int64_t tokens[64];
    muster_status status = MUSTER_OK;
    tokenize(lengths, tokens);
    training.model.version = 1;
    while (status == MUSTER_OK && training.model.version <= VERSIONS) {
        muster_tokens *answers = NULL;
        if (engines != NULL) {
            status = ask((muster_token_lists){PROMPTS, lengths, tokens}, &answers);
            if (status == MUSTER_OK)
                *right = report(answers);
        }
        if (status == MUSTER_OK)
            status = learn(answers, lengths, tokens);
        muster_tokens_free(answers);
    }
    return status;
}

int main(int argc, char **argv)
{
    int right = 0;
    if (argc != 3)
        return failed("usage: trainer MEET ENGINES");
    if (muster_init_process_group(&world, NULL) != MUSTER_OK ||
        (muster_group_rank(world) == 0 &&
         sync_meet(argv[1], TRAINER, atoi(argv[2]), &engines) != MUSTER_OK))
        return failed(muster_last_error());
    muster_status status = train(&right);
    order last = {0, 0};
    if (status == MUSTER_OK && engines != NULL) {
        status = sync_weights(engines, &training.model, &last);
        printf("trainer: %d of %d answers are right at last\n", right, PROMPTS);
    }
    if (status != MUSTER_OK)
        failed(muster_last_error());
    bool good = status == MUSTER_OK && (engines == NULL || right == PROMPTS);
    muster_group_free(engines);
    muster_group_free(world);
    return good ? 0 : 1;
}
