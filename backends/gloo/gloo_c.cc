/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gloo C bindings: the only file that sees Gloo's headers, and the only one in C++.
 *
 * It uses the transport layer alone: Gloo's own rendezvous talks to a store once for each rank, and
 * its collectives cannot be woken. createPair, connect and the unbound buffers are the same in all
 * versions since 2019.
 */
#include "gloo_c.h"

#include <cxxabi.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

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
#include <gloo/transport/tcp/loop.h>
#include <gloo/transport/unbound_buffer.h>
#pragma GCC diagnostic pop

void gloo_c_prepare_thread(void)
{
    void *volatile mine = abi::__cxa_get_globals();
    (void)mine;
}

struct gloo_c_device {
    std::shared_ptr<gloo::transport::tcp::Device> device;
};

struct gloo_c_context {
    std::shared_ptr<gloo::transport::tcp::Device> device;
    std::shared_ptr<gloo::transport::Context> context;
};

struct gloo_c_buffer {
    std::unique_ptr<gloo::transport::UnboundBuffer> buffer;
};

namespace
{

/* Gloo puts its source file in brackets before a message and then the condition that failed, and in
 * later versions general advice behind it; and the peer's address as Gloo sees it is none (see
 * handover.c). None of these means anything to a user. */
void copy_words(gloo_c_why *why, const char *words)
{
    std::string text(words);
    size_t bracket = text.find("] ");
    if (text.compare(0, 1, "[") == 0 && bracket != std::string::npos)
        text.erase(0, bracket + 2);
    static const char condition[] = "errno == 0. ";
    if (text.compare(0, sizeof(condition) - 1, condition) == 0)
        text.erase(0, sizeof(condition) - 1);
    size_t advice = text.find(". This is typically");
    if (advice != std::string::npos)
        text.erase(advice);
    size_t address = text.find(" [");
    if (address != std::string::npos)
        text.erase(address, text.find_first_of(" ,", address + 2) - address);
    snprintf(why->text, sizeof(why->text), "%s", text.c_str());
}

/* Gloo has no kind of exception for what the kernel refuses: only the words tell it. */
gloo_c_status kind_of_fault(const gloo_c_why *why)
{
    return strstr(why->text, strerror(ENOMEM)) != nullptr ? GLOO_C_NO_MEMORY : GLOO_C_FAULT;
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
        } catch (const std::system_error &error) {
            copy_words(why, error.what());
            if (error.code() == std::errc::resource_unavailable_try_again)
                return GLOO_C_NO_THREAD;
            return kind_of_fault(why);
        } catch (const std::exception &error) {
            copy_words(why, error.what());
            return kind_of_fault(why);
        }
    } catch (...) {
        snprintf(why->text, sizeof(why->text), "an exception that says nothing");
        return GLOO_C_FAULT;
    }
}

template <typename Call> gloo_c_status guard(gloo_c_why *why, Call call) noexcept
{
    why->text[0] = '\0';
    gloo_c_prepare_thread();
    try {
        return call();
    } catch (...) {
        return caught(why);
    }
}

/* For calls whose failure changes nothing: closing what is closed already. */
template <typename Call> void guard_quietly(Call call) noexcept
{
    gloo_c_prepare_thread();
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

bool gloo_c_thread_room(void)
{
    enum { ROOM = 16384 };
    void *volatile room = malloc(ROOM);
    bool there = room != nullptr;
    free(room);
    return there;
}

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
        *device = new gloo_c_device{std::dynamic_pointer_cast<gloo::transport::tcp::Device>(
            gloo::transport::tcp::CreateDevice(attr))};
        return GLOO_C_OK;
    });
}

void gloo_c_device_free(gloo_c_device *device)
{
    guard_quietly([&] { delete device; });
}

namespace
{

/* Where the device's thread rests. It belongs to that thread and to the one that wants the pause,
 * and goes with whoever is last. */
class Rest final : public gloo::transport::tcp::Handler
{
  public:
    explicit Rest(std::shared_ptr<gloo::transport::tcp::Device> of)
        : device(std::move(of)), bell(eventfd(1, EFD_CLOEXEC))
    {
    }

    ~Rest()
    {
        if (bell >= 0)
            close(bell);
    }

    /* One of these two is what the Gloo at hand calls. */
    void handleEvents(int)
    {
        rest();
    }

    void handleEvents(gloo::transport::tcp::Loop &, int)
    {
        rest();
    }

    /* Sends the thread here; false if it has not come in time. */
    bool begin(const std::shared_ptr<Rest> &shared, int64_t timeout_ms)
    {
        self = shared;
        try {
            device->registerDescriptor(bell, EPOLLIN, this);
        } catch (...) {
            self.reset();
            throw;
        }
        std::unique_lock<std::mutex> hold(lock);
        return changed.wait_for(hold, milliseconds(timeout_ms), [&] { return resting; });
    }

    void end()
    {
        std::lock_guard<std::mutex> hold(lock);
        over = true;
        changed.notify_all();
    }

  private:
    void rest()
    {
        auto keep = std::move(self);
        guard_quietly([&] { device->unregisterDescriptor(bell, this); });
        std::unique_lock<std::mutex> hold(lock);
        resting = true;
        changed.notify_all();
        changed.wait(hold, [&] { return over; });
    }

    std::shared_ptr<gloo::transport::tcp::Device> device;
    std::shared_ptr<Rest> self; /* while the device's thread has it */
    int bell;                   /* readable from the start */
    std::mutex lock;
    std::condition_variable changed;
    bool resting = false;
    bool over = false;
};

} // namespace

struct gloo_c_pause {
    std::shared_ptr<Rest> rest;
};

gloo_c_status gloo_c_device_pause(gloo_c_device *device, int64_t timeout_ms, gloo_c_pause **pause,
                                  gloo_c_why *why)
{
    return guard(why, [&] {
        auto rest = std::make_shared<Rest>(device->device);
        std::unique_ptr<gloo_c_pause> made(new gloo_c_pause{rest});
        if (!rest->begin(rest, timeout_ms)) {
            rest->end();
            snprintf(why->text, sizeof(why->text), "its thread does not answer");
            return GLOO_C_IO;
        }
        *pause = made.release();
        return GLOO_C_OK;
    });
}

void gloo_c_device_resume(gloo_c_pause *pause)
{
    guard_quietly([&] {
        pause->rest->end();
        delete pause;
    });
}

gloo_c_status gloo_c_context_new(gloo_c_device *device, int rank, int size, int64_t timeout_ms,
                                 gloo_c_context **context, gloo_c_why *why)
{
    return guard(why, [&] {
        auto made = device->device->createContext(rank, size);
        made->setTimeout(milliseconds(timeout_ms));
        *context = new gloo_c_context{device->device, std::move(made)};
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

/* The lower of two addresses is the one that listens, and none is higher than this. */
static std::vector<char> highest_address(const gloo_c_context *context, int peer, size_t size)
{
    std::vector<char> highest(size, static_cast<char>(0xff));
    std::vector<char> own = context->context->getPair(peer)->address().bytes();
    memcpy(highest.data(), own.data(), sizeof(sa_family_t));
    return highest;
}

gloo_c_status gloo_c_pair_await(gloo_c_context *context, int peer, size_t size, gloo_c_why *why)
{
    return guard(why, [&] {
        auto highest = highest_address(context, peer, size);
        context->context->getPair(peer)->connect(highest);
        return GLOO_C_OK;
    });
}

gloo_c_status gloo_c_pair_watch(gloo_c_context *context, int peer, int fd, gloo_c_why *why)
{
    return guard(why, [&] {
        auto &pair = context->context->getPair(peer);
        auto *handler = dynamic_cast<gloo::transport::tcp::Handler *>(pair.get());
        if (handler == nullptr) {
            snprintf(why->text, sizeof(why->text), "a connection is not of the kind known");
            return GLOO_C_FAULT;
        }
        context->device->registerDescriptor(fd, EPOLLIN, handler);
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
