/* A frame's registers while the stack is walked, and the memory that the walk may read. */
#ifndef IOLENS_UNWIND_REGISTERS_H
#define IOLENS_UNWIND_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By their DWARF numbers (System V ABI for x86-64, table 3.36): 6 rbp, 7 rsp, 16 the return address. */
enum { REGISTER_FRAME = 6, REGISTER_STACK = 7, REGISTER_RETURN = 16, REGISTER_COUNT = 17 };

struct registers {
    uintptr_t value[REGISTER_COUNT];
    uint32_t known; /* bit r: the value of register r is known */
};

/* The thread's own stack. */
struct stack_span {
    uintptr_t low, high;
};

/* A word of memory. On the stack it is just read; elsewhere (another stack, such as a signal stack or a
 * coroutine's) the kernel is asked, because what a wrong table points to may not be there. */
bool stack_word(const struct stack_span *stack, uintptr_t address, uintptr_t *word);

/* Bytes that may not be there: the kernel is asked. False when one of them is not. */
bool memory_copied(uintptr_t address, void *bytes, size_t count);

static inline bool register_known(const struct registers *registers, unsigned number)
{
    return number < REGISTER_COUNT && (registers->known >> number & 1);
}

#endif
