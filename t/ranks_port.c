/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "ranks_port.h"
#include "tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* It is kept by a socket that is bound and does not listen: the kernel gives it to nobody who asks
 * for any port, but who asks for this one with SO_REUSEADDR may have it too. On all addresses:
 * ranks have some of 127.0.0.0/8 each, and torch's server listens on all. */
struct port port_reserve(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_ANY)}};
    socklen_t size = sizeof(address);
    int one = 1;
    int keeper = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (keeper < 0 || setsockopt(keeper, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
        bind(keeper, (struct sockaddr *)&address, size) != 0 ||
        getsockname(keeper, (struct sockaddr *)&address, &size) != 0)
        bail_out("no port: %s", strerror(errno));
    return (struct port){ntohs(address.sin_port), keeper, NULL};
}

struct port port_host_store(void)
{
    struct port port = {-1, -1, NULL};
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    args.host = "127.0.0.1";
    args.listen = true;
    if (muster_store_tcp(&port.store, &args) != MUSTER_OK)
        bail_out("the store can't be hosted: %s", muster_last_error());
    port.number = muster_store_port(port.store);
    return port;
}

void port_free(struct port *port)
{
    if (port->keeper >= 0)
        close(port->keeper);
    muster_store_free(port->store);
}
