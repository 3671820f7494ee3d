#include "registers.h"

#include <string.h>
#include <sys/uio.h>

#include "../system/system_call.h"

/* AddressSanitizer must allow reads of the memory between a frame's variables. */
#if defined(__has_feature) || defined(__SANITIZE_ADDRESS__)
__attribute__((no_sanitize_address))
#endif
static uintptr_t
plain_word(uintptr_t address)
{
    return *(const volatile uintptr_t *)address;
}

bool memory_copied(uintptr_t address, void *bytes, size_t count)
{
    struct iovec to = {bytes, count}, from = {(void *)address, count};
    return system_call(SYS_process_vm_readv, system_call(SYS_getpid), &to, 1L, &from, 1L, 0L) == (long)count;
}

bool stack_word(const struct stack_span *stack, uintptr_t address, uintptr_t *word)
{
    if (address % sizeof *word != 0)
        return false;
    if (address < stack->low || address > stack->high - sizeof *word)
        return memory_copied(address, word, sizeof *word);
    *word = plain_word(address);
    return true;
}
