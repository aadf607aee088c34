/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: what the server of a tcp store is sent, by three clients of any family. The input is
 * portions: one byte for the client (3: a moment passes), one for the portion's size, its bytes.
 */
#include "fuzz.h"
#include "tcp_store/tcp_session.h"

enum { CLIENTS = 3, A_MOMENT = 3, MOST_ANSWERS = 4 << 20 };

typedef struct client {
    tcp_session session; /* first, so that a session is its client */
    bool woken;
} client;

static client clients[CLIENTS];

static void wake(tcp_session *session)
{
    ((client *)session)->woken = true;
}

/* One that is cut off is followed by another in its place. */
static void serve(tcp_store_data *data, client *who)
{
    tcp_session *session = &who->session;
    bool more = true;
    while (more) {
        if (!tcp_session_answer(data, session)) {
            tcp_session_end(data, session);
            *who = (client){0};
            return;
        }
        fuzz_hold(session->out.size < MOST_ANSWERS, "answers do not pile up");
        more = session->out.size > 0;
        buffer_consume(&session->out, session->out.size);
    }
}

static void serve_woken(tcp_store_data *data)
{
    for (int i = 0; i < CLIENTS; i++)
        if (clients[i].woken) {
            clients[i].woken = false;
            serve(data, &clients[i]);
            i = -1;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes input = {data, size};
    tcp_store_data store = {.woken = wake};
    while (input.size > 0) {
        int who = fuzz_byte(&input) % (CLIENTS + 1);
        for (int i = 0; who == A_MOMENT && i < CLIENTS; i++)
            if (clients[i].session.puzzling) {
                tcp_session_settle(&clients[i].session);
                serve(&store, &clients[i]);
            }
        if (who != A_MOMENT) {
            fuzz_bytes portion = fuzz_take(&input, fuzz_byte(&input));
            buffer_append(&clients[who].session.in, portion.data, portion.size);
            serve(&store, &clients[who]);
        }
        serve_woken(&store);
    }
    for (int i = 0; i < CLIENTS; i++) {
        tcp_session_end(&store, &clients[i].session);
        clients[i] = (client){0};
    }
    tcp_store_data_free(&store);
    return 0;
}
