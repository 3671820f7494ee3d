/* Fills the table of heap blocks until it has no more room, and empties it again. While the table grows,
 * other threads must wait as long as that takes, and no signal may reach the thread. Prints the number of
 * blocks that had room. */
#include "../../profiler/src/modules/traced/heap_blocks.c"
#include "../../profiler/src/system/signals.c"
#include "../../profiler/src/system/system_call.c"
#include "posix_expect.h"
#include <sys/mman.h>

enum { APART = 48 };

atomic_int spin_patience;
const char *spin_single_threaded = "";

static int growths;

void *pages_alloc(size_t bytes)
{
    void *pages =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

/* Stands in for the function that frees pages: the table calls it for its old memory, once all blocks are in
 * the new memory. */
void pages_free(void *pages, size_t bytes)
{
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    if (pages && spin_patience == 1 && sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGPROF))
        growths++;
    if (pages)
        munmap(pages, bytes);
}

static uintptr_t address_of(size_t number) { return 0x7f0000000000 + number * APART; }

int main(void)
{
    struct heap_block taken;
    sigset_t blocked;
    size_t count = 0, left = 0;
    while (heap_blocks_add(&(struct heap_block){address_of(count), (int64_t)count, NULL}))
        count++;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    MUST(growths == 11 && spin_patience == 0 && !sigismember(&blocked, SIGTERM));
    for (size_t i = 0; i < count; i += 2)
        MUST(heap_blocks_take(address_of(i), &taken) && taken.bytes == (int64_t)i);
    MUST(!heap_blocks_take(address_of(0), &taken) && !heap_blocks_take(address_of(count), &taken));
    for (size_t i = 1; i < count; i += 2)
        left += heap_blocks_take(address_of(i), &taken) && taken.bytes == (int64_t)i;
    MUST(left == count / 2 && iolens_heap_blocks.used == 0);
    heap_blocks_clear();
    printf("%zu\n", count);
    return 0;
}
