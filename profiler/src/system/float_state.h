/* The floating-point environment of the thread: flags, traps, rounding and the handling of denormal numbers,
 * which belong to the program. Calls that are recorded often compute exactly (system/clock.h), which changes
 * nothing of it; what computes otherwise does so between float_hold and float_release. */
#ifndef IOLENS_FLOAT_STATE_H
#define IOLENS_FLOAT_STATE_H

#include <stdint.h>

#if defined(__x86_64__)
struct float_state {
    uint32_t sse;
    uint16_t x87; /* The C library converts numbers to text as this word says. */
};
enum { FLOAT_SSE_DEFAULT = 0x1f80, FLOAT_X87_DEFAULT = 0x37f };
#else
struct float_state {
    uint64_t control, flags;
};
#endif

/* Keeps the thread's environment, and sets that in which programs begin. */
static inline struct float_state float_hold(void)
{
    struct float_state state = {0};
#if defined(__x86_64__)
    const uint32_t sse = FLOAT_SSE_DEFAULT;
    const uint16_t x87 = FLOAT_X87_DEFAULT;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(state.sse), "=m"(state.x87)::"memory");
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" ::"m"(sse), "m"(x87) : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(state.control), "=r"(state.flags)::"memory");
    __asm__ volatile("msr fpcr, %0" ::"r"(UINT64_C(0)) : "memory");
#endif
    return state;
}

static inline void float_release(const struct float_state *state)
{
#if defined(__x86_64__)
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" ::"m"(state->sse), "m"(state->x87) : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("msr fpsr, %1\n\tmsr fpcr, %0" ::"r"(state->control), "r"(state->flags) : "memory");
#else
    (void)state;
#endif
}

#endif
