/* The registers of a frame during a stack walk, and the memory that the walk may read. */
#ifndef IOLENS_UNWIND_REGISTERS_H
#define IOLENS_UNWIND_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DWARF numbers of registers (System V ABI for x86-64, table 3.36): 6 rbp, 7 rsp, 16 the return address. */
enum { REGISTER_FRAME = 6, REGISTER_STACK = 7, REGISTER_RETURN = 16, REGISTER_COUNT = 17 };

struct registers {
    uintptr_t value[REGISTER_COUNT];
    uint32_t known; /* Bit r: the value of register r is known. */
};

/* Range of a thread's own stack. */
struct stack_span {
    uintptr_t low, high;
};

/* Reads a word of memory. A word on the thread's stack is read directly. Any other word (on a signal stack or
 * a coroutine's stack) is read through the kernel, because a wrong table may give an address where no memory
 * is. */
bool stack_word(const struct stack_span *stack, uintptr_t address, uintptr_t *word);

/* Copies bytes through the kernel, since the memory may not be mapped. Returns false unless all bytes could
 * be read. */
bool memory_copied(uintptr_t address, void *bytes, size_t count);

static inline bool register_known(const struct registers *registers, unsigned number)
{
    return number < REGISTER_COUNT && (registers->known >> number & 1);
}

#endif
