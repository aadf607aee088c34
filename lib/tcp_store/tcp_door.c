/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The strangers of a tcp server.
 */
#include "config.h"
#include "tcp_store/tcp_door.h"

#include <sys/resource.h>

#include "base/deadline.h"
#include "base/log.h"

/* With a secret a stranger is one for moments, and a quarter of the descriptors are many. Without,
 * a client of torch 1.x may have a connection that never says anything. */
enum { LEAST_STRANGERS = 16, MOST_WITH_SECRET = 1024 };

void tcp_door_open(tcp_door *door, int listen_fd)
{
    socket_address at;
    *door = (tcp_door){.where = "?"};
    if (socket_local_address(listen_fd, &at))
        socket_address_text(&at, true, door->where);
}

void tcp_door_close(tcp_door *door)
{
    tcp_door_tell(door, INT64_MAX);
    job_secret_forget(&door->secret);
}

/* ---- Who stands there ---------------------------------------------------------------------- */

void tcp_door_add(tcp_door *door, tcp_stranger *stranger, int64_t now_ns)
{
    stranger->born_ns = now_ns;
    stranger->listed = true;
    stranger->older = door->newest;
    stranger->newer = NULL;
    if (door->newest != NULL)
        door->newest->newer = stranger;
    else
        door->oldest = stranger;
    door->newest = stranger;
    door->num++;
}

void tcp_door_remove(tcp_door *door, tcp_stranger *stranger)
{
    if (!stranger->listed)
        return;
    stranger->listed = false;
    if (stranger->older != NULL)
        stranger->older->newer = stranger->newer;
    else
        door->oldest = stranger->newer;
    if (stranger->newer != NULL)
        stranger->newer->older = stranger->older;
    else
        door->newest = stranger->older;
    door->num--;
}

tcp_stranger *tcp_door_first_to_go(const tcp_door *door)
{
    for (tcp_stranger *one = door->oldest; one != NULL; one = one->newer)
        if (!one->spoke)
            return one;
    return door->oldest;
}

/* Asked anew each time: the program may change its limit. */
bool tcp_door_is_full(const tcp_door *door)
{
    struct rlimit files;
    if (door->num <= LEAST_STRANGERS || getrlimit(RLIMIT_NOFILE, &files) != 0)
        return false;
    size_t most = (size_t)(door->secret.set ? files.rlim_cur / 4 : files.rlim_cur / 2);
    if (most < LEAST_STRANGERS)
        most = LEAST_STRANGERS;
    if (door->secret.set && most > MOST_WITH_SECRET)
        most = MOST_WITH_SECRET;
    return door->num > most;
}

tcp_stranger *tcp_door_overdue(const tcp_door *door, int64_t born_ns)
{
    return door->oldest != NULL && door->oldest->born_ns <= born_ns ? door->oldest : NULL;
}

/* ---- What the log says --------------------------------------------------------------------- */

void tcp_door_turned_away(tcp_door *door, const tcp_stranger *stranger, const char *reason)
{
    char text[SOCKET_TEXT_SIZE];
    tcp_door_tell(door, deadline_now_ns());
    if (door->lines == 0)
        door->lines_since_ns = deadline_now_ns();
    if (door->lines < TCP_DOOR_LINES) {
        door->lines++;
        log_line(MUSTER_LOG_WARNING, "tcp store %s: turned %s away: %s", door->where,
                 socket_address_text(&stranger->from, true, text), reason);
        return;
    }
    door->untold++;
    door->last = stranger->from;
    door->last_reason = reason;
}

bool tcp_door_tell(tcp_door *door, int64_t now_ns)
{
    char text[SOCKET_TEXT_SIZE];
    if (door->lines == 0 || now_ns - door->lines_since_ns < TCP_DOOR_LINES_MS * INT64_C(1000000))
        return door->untold > 0;
    if (door->untold > 0)
        log_line(MUSTER_LOG_WARNING, "tcp store %s: turned %u more away, the last of them %s: %s",
                 door->where, door->untold, socket_address_text(&door->last, true, text),
                 door->last_reason);
    door->lines = door->untold = 0;
    return false;
}
