/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gloo C bindings: the only file that sees Gloo's headers, and the only one in C++.
 *
 * It uses the transport layer alone: Gloo's own rendezvous talks to a store once for each rank, and
 * its collectives cannot be woken. createPair, connect and the unbound buffers are the same in all
 * versions since 2019.
 */
#include "gloo_c.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

/* Gloo's headers do not know our warnings. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <gloo/common/error.h>
#include <gloo/common/logging.h>
#include <gloo/config.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#pragma GCC diagnostic pop

struct gloo_c_device {
    std::shared_ptr<gloo::transport::Device> device;
};

struct gloo_c_context {
    std::shared_ptr<gloo::transport::Context> context;
};

struct gloo_c_buffer {
    std::unique_ptr<gloo::transport::UnboundBuffer> buffer;
};

namespace
{

/* Gloo puts its source file in brackets before a message, and in later versions general advice
 * behind it; neither means anything to a user. */
void copy_words(gloo_c_why *why, const char *words)
{
    std::string text(words);
    size_t bracket = text.find("] ");
    if (text.compare(0, 1, "[") == 0 && bracket != std::string::npos)
        text.erase(0, bracket + 2);
    size_t advice = text.find(". This is typically");
    if (advice != std::string::npos)
        text.erase(advice);
    snprintf(why->text, sizeof(why->text), "%s", text.c_str());
}

/* Called inside a handler; the order matters, since IoException is an Exception. */
gloo_c_status caught(gloo_c_why *why) noexcept
{
    try {
        try {
            throw;
        } catch (const gloo::IoException &error) {
            copy_words(why, error.what());
            return GLOO_C_IO;
        } catch (const std::bad_alloc &) {
            snprintf(why->text, sizeof(why->text), "out of memory");
            return GLOO_C_NO_MEMORY;
        } catch (const std::exception &error) {
            copy_words(why, error.what());
            return GLOO_C_FAULT;
        }
    } catch (...) {
        snprintf(why->text, sizeof(why->text), "an exception that says nothing");
        return GLOO_C_FAULT;
    }
}

template <typename Call> gloo_c_status guard(gloo_c_why *why, Call call) noexcept
{
    why->text[0] = '\0';
    try {
        return call();
    } catch (...) {
        return caught(why);
    }
}

/* For calls whose failure changes nothing: closing what is closed already. */
template <typename Call> void guard_quietly(Call call) noexcept
{
    try {
        call();
    } catch (...) {
    }
}

std::chrono::milliseconds milliseconds(int64_t timeout_ms)
{
    return std::chrono::milliseconds(timeout_ms < GLOO_C_LONGEST_MS ? timeout_ms
                                                                    : GLOO_C_LONGEST_MS);
}

} // namespace

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

const char *gloo_c_version(void)
{
    return TEXT(GLOO_VERSION_MAJOR) "." TEXT(GLOO_VERSION_MINOR) "." TEXT(GLOO_VERSION_PATCH);
}

gloo_c_status gloo_c_device_new(const char *address, int family, gloo_c_device **device,
                                gloo_c_why *why)
{
    return guard(why, [&] {
        gloo::transport::tcp::attr attr;
        attr.hostname = address;
        attr.ai_family = family;
        *device = new gloo_c_device{gloo::transport::tcp::CreateDevice(attr)};
        return GLOO_C_OK;
    });
}

void gloo_c_device_free(gloo_c_device *device)
{
    guard_quietly([&] { delete device; });
}

gloo_c_status gloo_c_context_new(gloo_c_device *device, int rank, int size, int64_t timeout_ms,
                                 gloo_c_context **context, gloo_c_why *why)
{
    return guard(why, [&] {
        auto made = device->device->createContext(rank, size);
        made->setTimeout(milliseconds(timeout_ms));
        *context = new gloo_c_context{std::move(made)};
        return GLOO_C_OK;
    });
}

void gloo_c_context_free(gloo_c_context *context)
{
    guard_quietly([&] { delete context; });
}

void gloo_c_context_shut(gloo_c_context *context)
{
    /* A wait that times out is the one call that closes every connection without a reset. */
    guard_quietly([&] {
        char nothing = 0;
        auto buffer = context->context->createUnboundBuffer(&nothing, sizeof(nothing));
        buffer->waitRecv(nullptr, std::chrono::milliseconds(0));
    });
}

/* An address begins with a sockaddr_storage, of which Gloo fills what the family needs. What the
 * stack held in the rest is nobody's business, and may not be compared. */
static void clear_unused(std::vector<char> &address)
{
    struct sockaddr_storage at;
    if (address.size() < sizeof(at))
        return;
    memcpy(&at, address.data(), sizeof(at));
    size_t used =
        at.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    memset(address.data() + used, 0, sizeof(at) - used);
}

gloo_c_status gloo_c_pair_new(gloo_c_context *context, int peer, void *bytes, size_t *size,
                              gloo_c_why *why)
{
    return guard(why, [&] {
        auto &pair = context->context->createPair(peer);
        std::vector<char> address = pair->address().bytes();
        if (address.size() > *size) {
            snprintf(why->text, sizeof(why->text),
                     "an address of %zu bytes, more than the %zu known", address.size(), *size);
            return GLOO_C_FAULT;
        }
        clear_unused(address);
        memcpy(bytes, address.data(), address.size());
        *size = address.size();
        return GLOO_C_OK;
    });
}

gloo_c_status gloo_c_pair_connect(gloo_c_context *context, int peer, const void *bytes, size_t size,
                                  gloo_c_why *why)
{
    return guard(why, [&] {
        const char *first = static_cast<const char *>(bytes);
        context->context->getPair(peer)->connect(std::vector<char>(first, first + size));
        return GLOO_C_OK;
    });
}

void gloo_c_pair_close(gloo_c_context *context, int peer)
{
    guard_quietly([&] {
        auto &pair = context->context->getPair(peer);
        if (pair)
            pair->close();
    });
}

gloo_c_status gloo_c_buffer_new(gloo_c_context *context, void *data, size_t size,
                                gloo_c_buffer **buffer, gloo_c_why *why)
{
    return guard(why, [&] {
        *buffer = new gloo_c_buffer{context->context->createUnboundBuffer(data, size)};
        return GLOO_C_OK;
    });
}

void gloo_c_buffer_free(gloo_c_buffer *buffer)
{
    guard_quietly([&] { delete buffer; });
}

gloo_c_status gloo_c_send(gloo_c_buffer *buffer, int peer, uint64_t slot, size_t offset,
                          size_t size, gloo_c_why *why)
{
    return guard(why, [&] {
        buffer->buffer->send(peer, slot, offset, size);
        return GLOO_C_OK;
    });
}

gloo_c_status gloo_c_recv(gloo_c_buffer *buffer, int peer, uint64_t slot, size_t offset,
                          size_t size, gloo_c_why *why)
{
    return guard(why, [&] {
        buffer->buffer->recv(peer, slot, offset, size);
        return GLOO_C_OK;
    });
}

gloo_c_status gloo_c_wait_send(gloo_c_buffer *buffer, int64_t timeout_ms, gloo_c_why *why)
{
    return guard(why, [&] {
        bool complete = buffer->buffer->waitSend(nullptr, milliseconds(timeout_ms));
        return complete ? GLOO_C_OK : GLOO_C_STOPPED;
    });
}

gloo_c_status gloo_c_wait_recv(gloo_c_buffer *buffer, int64_t timeout_ms, gloo_c_why *why)
{
    return guard(why, [&] {
        bool complete = buffer->buffer->waitRecv(nullptr, milliseconds(timeout_ms));
        return complete ? GLOO_C_OK : GLOO_C_STOPPED;
    });
}

void gloo_c_stop(gloo_c_buffer *buffer)
{
    guard_quietly([&] {
        buffer->buffer->abortWaitSend();
        buffer->buffer->abortWaitRecv();
    });
}
