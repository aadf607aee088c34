/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An inference engine: ranks that share the work on each token. They get weights and prompts from
 * the trainer, and give it their answers to their share of the prompts.
 *
 *     muster-run -n 2 ./engine MEET ENGINES NUMBER [VERSION]
 *
 * With a VERSION its last rank crashes when it has got that one.
 */
#include "sync.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 256 };

static muster_group *world, *trainer;
static model weights;
static int64_t crash_at, versions, answered;

static int failed(const char *what)
{
    fprintf(stderr, "engine: %s\n", what);
    muster_report_failure(what);
    return 1;
}

/* Each rank looks at its part of the vocabulary; together they take the best token. */
static muster_status next_token(const int64_t *text, size_t length, int64_t *token)
{
    int rank = muster_group_rank(world), size = muster_group_size(world);
    float scores[VOCABULARY] = {0};
    model_scores(&weights, text, length, VOCABULARY * rank / size, VOCABULARY * (rank + 1) / size,
                 scores);
    muster_status status =
        muster_all_reduce(world, scores, scores, VOCABULARY, MUSTER_FLOAT32, MUSTER_SUM, NULL);
    *token = model_best(scores);
    return status;
}

/* Writes the answer to a prompt, of *length tokens. */
static muster_status answer(const int64_t *prompt, size_t prompt_length, int64_t *tokens,
                            size_t *length)
{
    int64_t text[TEXT_MOST], token = 1;
    muster_status status = MUSTER_OK;
    size_t at = prompt_length < TEXT_MOST - ANSWER_MOST ? prompt_length : TEXT_MOST - ANSWER_MOST;
    memcpy(text, prompt, at * sizeof(*text));
    for (*length = 0; *length < ANSWER_MOST; tokens[(*length)++] = text[at++] = token) {
        status = next_token(text, at, &token);
        if (status != MUSTER_OK || token == 0)
            break;
    }
    return status;
}

/* The answers of the engines, one behind the other, are those to the prompts in their order. Of the
 * ranks of an engine one hands them in. */
static muster_status answer_share(const muster_tokens *prompts)
{
    size_t engines = (size_t)sync_engines(trainer), place = (size_t)sync_place(trainer);
    size_t begin = prompts->num_lists * place / engines, count = 0;
    size_t end = prompts->num_lists * (place + 1) / engines, num_tokens = 0;
    size_t *lengths = calloc(end - begin + 1, sizeof(*lengths));
    int64_t *tokens = calloc((end - begin) * ANSWER_MOST + 1, sizeof(*tokens));
    muster_status status = lengths != NULL && tokens != NULL ? MUSTER_OK : MUSTER_ERR_NO_MEMORY;
    for (size_t p = begin; p < end && status == MUSTER_OK; p++) {
        const size_t *offset = &prompts->list_offsets[p];
        status = answer(prompts->tokens + offset[0], offset[1] - offset[0], tokens + num_tokens,
                        &lengths[count]);
        num_tokens += lengths[count++];
    }
    muster_token_lists mine = {muster_group_rank(world) == 0 ? count : 0, lengths, tokens};
    muster_tokens *none;
    if (status == MUSTER_OK)
        status = muster_gather_tokens(trainer, &mine, TRAINER, &none);
    answered += (int64_t)count;
    free(lengths);
    free(tokens);
    return status;
}

/* One round with the trainer; *order is what it said. */
static muster_status serve(order *order)
{
    const muster_token_lists none = {0, NULL, NULL};
    muster_tokens *prompts;
    muster_status status = sync_weights(trainer, &weights, order);
    if (status != MUSTER_OK || order->version == 0)
        return status;
    if (order->checksum != model_checksum(&weights)) {
        fprintf(stderr, "engine: these are not the weights of the trainer\n");
        return MUSTER_ERR_MISMATCH;
    }
    versions += weights.version > versions;
    if (crash_at == weights.version && muster_group_rank(world) == muster_group_size(world) - 1)
        raise(SIGKILL);
    status = muster_all_gather_tokens(trainer, &none, &prompts);
    if (status == MUSTER_OK) {
        status = answer_share(prompts);
        muster_tokens_free(prompts);
    }
    return status;
}

/* A loss in the trainer's group may be that of another engine; one in the own world is the end. */
static muster_status serve_all(void)
{
    order order = {1, 0};
    muster_status status = MUSTER_OK;
    while (status == MUSTER_OK && order.version != 0) {
        status = serve(&order);
        if (status == MUSTER_ERR_PEER_LOST && muster_group_check(world) == MUSTER_OK)
            status = sync_recover(&trainer);
    }
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return failed("usage: engine MEET ENGINES NUMBER [VERSION]");
    int number = atoi(argv[3]);
    crash_at = argc > 4 ? atoi(argv[4]) : 0;
    if (muster_init_process_group(&world, NULL) != MUSTER_OK)
        return failed(muster_last_error());
    if (muster_group_size(world) != RANKS_EACH)
        return failed("an engine has two ranks: muster-run -n 2");
    if (sync_meet(argv[1], 1 + number * RANKS_EACH + muster_group_rank(world), atoi(argv[2]),
                  &trainer) != MUSTER_OK)
        return failed(muster_last_error());
    muster_status status = serve_all();
    if (status != MUSTER_OK)
        failed(muster_last_error());
    else if (muster_group_rank(world) == 0)
        printf("engine %d: version %" PRId64 ", checksum %016" PRIx64 "; %" PRId64
               " versions, %" PRId64 " answers\n",
               number, weights.version, model_checksum(&weights), versions, answered);
    muster_group_free(trainer);
    muster_group_free(world);
    return status != MUSTER_OK;
}
