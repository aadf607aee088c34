/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ranks of mixed.sh that generate, in C. Those of mixed.py train, with torch; it says which
 * keys of the store mean what.
 */
#define _POSIX_C_SOURCE 200809L /* strtok_r */
#include <muster.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_BYTES = 8 << 20, MOST_RANKS = 1024 };

static int rank, size, trainers;
static int64_t timeout_ms = 60000;
static muster_store *store;

typedef struct lists {
    size_t num_lists;
    size_t *lengths;
    int64_t *tokens;
} lists;

static void fail(const char *what)
{
    char sentence[4096];
    snprintf(sentence, sizeof(sentence), "rank %d: %s", rank, what);
    fprintf(stderr, "mixed: %s\n", sentence);
    muster_report_failure(sentence); /* torchrun shows it at its end */
    exit(1);
}

static void must(muster_status status)
{
    if (status != MUSTER_OK)
        fail(muster_last_error());
}

static void check(bool right, const char *what)
{
    if (!right)
        fail(what);
}

static void *memory(size_t bytes)
{
    void *block = calloc(1, bytes + 1);
    check(block != NULL, "out of memory");
    return block;
}

static const char *variable(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    check(value != NULL || otherwise != NULL, "start it with a launcher, as mixed.sh says");
    return value != NULL ? value : otherwise;
}

static const char *key_of(const char *what, int r)
{
    static char key[64];
    snprintf(key, sizeof(key), "%s/%d", what, r);
    return key;
}

static size_t total(const lists *all)
{
    size_t sum = 0;
    for (size_t i = 0; i < all->num_lists; i++)
        sum += all->lengths[i];
    return sum;
}

/* ---- The store ----------------------------------------------------------------------------- */

/* Rank 0 is one of the others, so this one never runs the server. */
static void meet(void)
{
    char prefix[64];
    muster_store *tcp;
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    args.host = variable("MASTER_ADDR", NULL);
    args.port = atoi(variable("MASTER_PORT", NULL));
    args.timeout_ms = timeout_ms;
    must(muster_store_tcp(&tcp, &args));
    snprintf(prefix, sizeof(prefix), "mixed/%s", variable("TORCHELASTIC_RESTART_COUNT", "0"));
    must(muster_store_prefix(&store, tcp, prefix));
    muster_store_free(tcp);
}

static void leave(void)
{
    int64_t left;
    must(muster_store_add(store, muster_str("left"), 1, &left));
    if (left == size - 1)
        must(muster_store_set(store, muster_str("all left"), muster_str("")));
    muster_store_free(store);
}

/* ---- Weights ------------------------------------------------------------------------------- */

static size_t size_of_type(const char *type)
{
    static const struct {
        const char *name;
        size_t size;
    } types[] = {{"float64", 8}, {"int64", 8},    {"float32", 4}, {"int32", 4},
                 {"float16", 2}, {"bfloat16", 2}, {"int8", 1},    {"uint8", 1}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(types[i].name, type) == 0)
            return types[i].size;
    fail("a tensor has a type that is not known");
    return 0;
}

/* "0.weight float32 256 16": the bytes that such a tensor has; *key is where they are. */
static size_t read_tensor(char *line, char *key, size_t key_size)
{
    char *rest = NULL;
    const char *name = strtok_r(line, " ", &rest), *type = strtok_r(NULL, " ", &rest);
    check(name != NULL && type != NULL, "a tensor has no name or no type");
    snprintf(key, key_size, "weights/%s", name);
    size_t bytes = size_of_type(type);
    for (const char *dim; (dim = strtok_r(NULL, " ", &rest)) != NULL;) {
        bytes *= (size_t)atoi(dim);
        check(bytes <= MOST_BYTES, "a tensor is too large for one key");
    }
    return bytes;
}

/* Takes the weights that the lines describe, and says what came. */
static void take_weights(size_t *num_tensors, size_t *num_bytes)
{
    void *lines;
    size_t length;
    unsigned long long sum = 0;
    must(muster_store_get(store, muster_str("weights"), timeout_ms, &lines, &length));
    char *text = memory(length), *rest = NULL;
    memcpy(text, lines, length);
    *num_tensors = *num_bytes = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char key[512];
        void *data;
        size_t got, bytes = read_tensor(line, key, sizeof(key));
        must(muster_store_get(store, muster_str(key), timeout_ms, &data, &got));
        check(got == bytes, "a tensor has another size than its type and dimensions say");
        for (size_t i = 0; i < got; i++)
            sum += ((unsigned char *)data)[i];
        muster_free(data);
        ++*num_tensors;
        *num_bytes += bytes;
    }
    char said[128];
    snprintf(said, sizeof(said), "%zu %zu %llu", *num_tensors, *num_bytes, sum);
    must(muster_store_set(store, muster_str(key_of("weights/got", rank)), muster_str(said)));
    muster_free(lines);
    free(text);
}

/* ---- Prompts ------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "r");
    check(file != NULL, "the file of prompts can't be opened");
    char *text = memory(MOST_BYTES);
    *length = fread(text, 1, MOST_BYTES, file);
    fclose(file);
    return text;
}

/* The numbers behind each "token_ids" of the file; the texts are not needed here. */
static lists read_prompts(const char *path)
{
    size_t length;
    char *text = read_file(path, &length);
    lists all = {0, memory(length * sizeof(size_t)), memory(length * sizeof(int64_t))};
    int64_t *token = all.tokens;
    for (char *at = text; (at = strstr(at, "\"token_ids\":")) != NULL; all.num_lists++) {
        at = strchr(at, '[');
        check(at != NULL, "the file of prompts is not as it should be");
        while (*++at != ']' && *at != '\0') {
            *token++ = strtoll(at, &at, 10);
            all.lengths[all.num_lists]++;
            if (*at != ',')
                break;
        }
    }
    free(text);
    return all;
}

static void hand_over(const char *key, const lists *mine)
{
    size_t tokens = total(mine), words = 1 + mine->num_lists + tokens;
    int64_t *packed = memory(words * sizeof(*packed));
    packed[0] = (int64_t)mine->num_lists;
    for (size_t i = 0; i < mine->num_lists; i++)
        packed[1 + i] = (int64_t)mine->lengths[i];
    memcpy(packed + 1 + mine->num_lists, mine->tokens, tokens * sizeof(*packed));
    must(muster_store_set(store, muster_str(key), (muster_blob){packed, words * sizeof(*packed)}));
    free(packed);
}

/* The share of a rank, which must be told from the others' by its place alone. */
static lists share(const lists *all, int part, int parts)
{
    size_t from = all->num_lists * (size_t)part / (size_t)parts;
    size_t to = all->num_lists * (size_t)(part + 1) / (size_t)parts;
    lists before = {from, all->lengths, all->tokens};
    return (lists){to - from, all->lengths + from, all->tokens + total(&before)};
}

/* The generators' own group, over the same store: each gathers the prompts of all. */
static void gather(const lists *all)
{
    muster_group *group;
    muster_tokens *gathered;
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.store = store;
    args.group_name = "generators";
    args.rank = rank - trainers;
    args.world_size = size - trainers;
    args.timeout_ms = timeout_ms;
    must(muster_init_process_group(&group, &args));
    lists mine = share(all, args.rank, args.world_size);
    muster_token_lists list = {mine.num_lists, mine.lengths, mine.tokens};
    must(muster_all_gather_tokens(group, &list, &gathered));
    check(gathered->num_lists == all->num_lists && gathered->num_tokens == total(all) &&
              memcmp(gathered->tokens, all->tokens, total(all) * sizeof(int64_t)) == 0,
          "the generators did not gather what the file says");
    muster_tokens_free(gathered);
    hand_over(key_of("prompts", rank), &mine);
    muster_group_free(group);
}

/* Each trainer has answered its share, every prompt backwards. */
static void take_answers(const lists *all)
{
    for (int trainer = 0; trainer < trainers; trainer++) {
        void *data;
        size_t bytes;
        lists asked = share(all, trainer, trainers);
        must(muster_store_get(store, muster_str(key_of("answers", trainer)), timeout_ms, &data,
                              &bytes));
        const int64_t *lengths = (int64_t *)data + 1, *answer = lengths + asked.num_lists;
        check(bytes == (1 + asked.num_lists + total(&asked)) * sizeof(int64_t) &&
                  *(int64_t *)data == (int64_t)asked.num_lists,
              "a trainer has answered other prompts than its own");
        const int64_t *token = asked.tokens;
        for (size_t i = 0; i < asked.num_lists; i++) {
            size_t length = asked.lengths[i];
            check((size_t)lengths[i] == length, "an answer has another length than its prompt");
            for (size_t t = 0; t < length; t++)
                check(answer[t] == token[length - 1 - t], "an answer is not its prompt backwards");
            answer += length;
            token += length;
        }
        muster_free(data);
    }
}

int main(int argc, char **argv)
{
    size_t num_tensors, num_bytes;
    rank = atoi(variable("RANK", NULL));
    size = atoi(variable("WORLD_SIZE", NULL));
    trainers = size / 2;
    timeout_ms = 1000 * (int64_t)atoi(variable("MIXED_SECONDS", "60"));
    check(argc == 2, "it takes a file of prompts");
    lists prompts = read_prompts(argv[1]);
    meet();
    take_weights(&num_tensors, &num_bytes);
    gather(&prompts);
    take_answers(&prompts);
    leave();
    printf("rank %d of %d, muster %s: %zu tensors of %zu bytes received, %zu prompts of %zu tokens "
           "answered\n",
           rank, size, muster_version(), num_tensors, num_bytes, prompts.num_lists,
           total(&prompts));
    free(prompts.lengths);
    free(prompts.tokens);
    return 0;
}
