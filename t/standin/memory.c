/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: memory of devices,
 * pinned and managed memory. What the host may not touch is a range without any access, and its
 * bytes are a file in memory that is mapped elsewhere.
 */
#include "config.h"

#include "memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct memory_entry {
    standin_memory memory;
    size_t mapped;
    struct memory_entry *next;
} memory_entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static memory_entry *entries;

static void *memory_map(size_t size, int access, int flags, int file)
{
    void *at = mmap(NULL, size, access, flags, file, 0);
    return at != MAP_FAILED ? at : NULL;
}

static char *memory_map_bytes(size_t size)
{
    char *bytes = NULL;
    int file = memfd_create("standin", MFD_CLOEXEC);
    if (file < 0)
        return NULL;
    if (ftruncate(file, (off_t)size) == 0)
        bytes = memory_map(size, PROT_READ | PROT_WRITE, MAP_SHARED, file);
    close(file);
    return bytes;
}

static bool memory_map_both(memory_entry *entry)
{
    standin_memory *memory = &entry->memory;
    bool apart = memory->type == CUDA_MEMORY_DEVICE;
    memory->bytes = memory_map_bytes(entry->mapped);
    memory->base = !apart ? memory->bytes
                          : memory_map(entry->mapped, PROT_NONE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (memory->base != NULL && memory->bytes != NULL)
        return true;
    if (memory->bytes != NULL)
        munmap(memory->bytes, entry->mapped);
    return false;
}

cu_result memory_make(int device, cuda_memory_type type, size_t size, void **memory)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size == 0 || memory == NULL)
        return (cu_result)STANDIN_INVALID_VALUE;
    if (size > (size_t)1 << 40)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memory_entry *entry = calloc(1, sizeof(*entry));
    if (entry == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    entry->mapped = (size + page - 1) / page * page;
    entry->memory = (standin_memory){.size = size, .type = type, .device = device};
    if (!memory_map_both(entry)) {
        free(entry);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&lock);
    entry->next = entries;
    entries = entry;
    pthread_mutex_unlock(&lock);
    *memory = entry->memory.base;
    return CUDA_OK;
}

cu_result memory_drop(void *memory)
{
    pthread_mutex_lock(&lock);
    memory_entry **at = &entries;
    while (*at != NULL && (*at)->memory.base != memory)
        at = &(*at)->next;
    memory_entry *entry = *at;
    if (entry != NULL)
        *at = entry->next;
    pthread_mutex_unlock(&lock);
    if (entry == NULL)
        return (cu_result)STANDIN_INVALID_VALUE;
    if (entry->memory.bytes != entry->memory.base)
        munmap(entry->memory.base, entry->mapped);
    munmap(entry->memory.bytes, entry->mapped);
    free(entry);
    return CUDA_OK;
}

bool memory_find(const void *pointer, standin_memory *found)
{
    uintptr_t at = (uintptr_t)pointer;
    bool is_there = false;
    pthread_mutex_lock(&lock);
    for (memory_entry *entry = entries; entry != NULL && !is_there; entry = entry->next) {
        uintptr_t base = (uintptr_t)entry->memory.base;
        is_there = at >= base && at - base < entry->memory.size;
        if (is_there)
            *found = entry->memory;
    }
    pthread_mutex_unlock(&lock);
    return is_there;
}

void *memory_reach(const void *pointer, size_t size)
{
    standin_memory memory;
    if (!memory_find(pointer, &memory))
        return NULL;
    size_t offset = (size_t)((const char *)pointer - memory.base);
    return size <= memory.size - offset ? memory.bytes + offset : NULL;
}
