/* A wrapper of a function whose arguments are not known: it passes on, unchanged, all registers that can hold
 * arguments and the first words of the stack. If the function has fewer arguments, some of these words belong
 * to its caller; copying them does no harm. */
#ifndef IOLENS_TRACE_FORWARD_H
#define IOLENS_TRACE_FORWARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__aarch64__)
#define IN_REGISTERS(what) what(0), what(1), what(2), what(3), what(4), what(5), what(6), what(7)
#else
#define IN_REGISTERS(what) what(0), what(1), what(2), what(3), what(4), what(5)
#endif
#define EIGHT(what) what(0), what(1), what(2), what(3), what(4), what(5), what(6), what(7)

#define WORD_PARAMETER(i)   intptr_t a##i
#define DOUBLE_PARAMETER(i) double d##i
#define STACK_PARAMETER(i)  intptr_t s##i
#define MORE_PARAMETER(i)   intptr_t m##i
#define WORD_ARGUMENT(i)    a##i
#define DOUBLE_ARGUMENT(i)  d##i
#define STACK_ARGUMENT(i)   s##i
#define MORE_ARGUMENT(i)    m##i

#define PARAMETERS                                                                                           \
    (IN_REGISTERS(WORD_PARAMETER), EIGHT(DOUBLE_PARAMETER), EIGHT(STACK_PARAMETER), EIGHT(MORE_PARAMETER))
#define ARGUMENTS                                                                                            \
    (IN_REGISTERS(WORD_ARGUMENT), EIGHT(DOUBLE_ARGUMENT), EIGHT(STACK_ARGUMENT), EIGHT(MORE_ARGUMENT))

/* The registers in which a function returns its result: a general register, a floating-point register, or two
 * of these. */
typedef intptr_t WORD;
typedef double REAL;
typedef double _Complex COMPLEX;

/* The real function that a name stands for in calls from code in [begin, end). */
struct traced_real {
    atomic_uintptr_t begin;
    uintptr_t end;
    _Atomic(void *) real;
};

enum { TRACE_CALLERS = 4 };

struct traced_function {
    const char *symbol;
    uint32_t number; /* The function's number in the recorder; 0 if unknown. */
    bool of_core;    /* True if `real` is a wrapper of the recorder. */
    /* The real function, if this name stands for the same function in all callers; NULL if it does not, or if
     * that is not known yet. */
    void *real;
    struct traced_real of[TRACE_CALLERS];
};

/* A call that has begun. */
struct traced_call {
    double t0;
    double spent;     /* Value of iolens_spent when the call began. */
    uint64_t counted; /* Number of the call if its counters are read; 0: they are not. */
    unsigned forks;   /* Number of forks that led to this process, when the call began. */
    bool within;      /* True if the call was made inside another call that still goes on. */
};

/* Begins a traced call, before the real function is called. Returns false if the call is not recorded:
 * recording is off, or another function of this group made the call. */
bool trace_enter(struct traced_function *function, struct traced_call *call);
void trace_leave(const struct traced_function *function, const struct traced_call *call, int64_t bytes);

/* Returns the next definition of the function for code at the address `caller`; NULL if there is none, or
 * while it is being looked up. */
void *trace_real(struct traced_function *function, const void *caller);

/* Fails with ENOSYS in place of a real function that does not exist. */
intptr_t trace_missing(const struct traced_function *function);

#define FORWARD(result, name, bytes)                                                                         \
    static struct traced_function traced_##name = {.symbol = #name};                                         \
    __attribute__((visibility("default"))) result forward_##name PARAMETERS __asm__(#name);                  \
    result forward_##name PARAMETERS                                                                         \
    {                                                                                                        \
        result(*real) PARAMETERS =                                                                           \
            (result(*) PARAMETERS)trace_real(&traced_##name, __builtin_return_address(0));                   \
        struct traced_call call;                                                                             \
        if (!real)                                                                                           \
            return (result)trace_missing(&traced_##name);                                                    \
        if (!trace_enter(&traced_##name, &call))                                                             \
            return real ARGUMENTS;                                                                           \
        result got = real ARGUMENTS;                                                                         \
        trace_leave(&traced_##name, &call, (int64_t)(bytes));                                                \
        return got;                                                                                          \
    }

#endif
