#include <stdint.h>
#include <sys/auxv.h>

#include "../memory/arena.h"
#include "../system/system_call.h"
#include "signals.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* In a thread for which the program set no alternate stack, the program's own handlers with SA_ONSTACK run on
 * this stack too. */
enum { STACK_BYTES = 256 * 1024, FRAME = 512 };

static __thread char *mine __attribute__((tls_model("initial-exec")));

static int change(const stack_t *wanted, stack_t *before)
{
    return (int)system_call(SYS_sigaltstack, wanted, before);
}

static int set_mine(void) { return change(&(stack_t){.ss_sp = mine, .ss_size = STACK_BYTES}, NULL); }

static bool is_mine(const stack_t *stack) { return mine && stack->ss_sp == mine; }

void signal_stack_begin(void)
{
    stack_t now;
    if (!mine)
        mine = pages_alloc(STACK_BYTES);
    if (mine && change(NULL, &now) == 0 && now.ss_flags & SS_DISABLE)
        set_mine();
}

/* Ends the use of this thread's alternate stack, unless the thread runs on it now. Gives its memory back if
 * it is still the thread's alternate stack; a sanitizer that has replaced it gives the memory back by
 * itself. */
void signal_stack_end(void)
{
    stack_t now;
    if (!mine || change(NULL, &now) != 0 || now.ss_flags & SS_ONSTACK)
        return;
    if (is_mine(&now) && change(&(stack_t){.ss_flags = SS_DISABLE}, NULL) == 0)
        pages_free(mine, STACK_BYTES);
    mine = NULL;
}

int signal_stack_share(const stack_t *wanted, stack_t *before)
{
    stack_t now;
    bool disables = wanted && wanted->ss_flags & SS_DISABLE;
    if (!mine || change(NULL, &now) != 0 || now.ss_flags & SS_ONSTACK)
        return change(wanted, before);
    stack_t shown = is_mine(&now) ? (stack_t){.ss_flags = SS_DISABLE} : now;
    int result = disables ? set_mine() : wanted ? change(wanted, NULL) : 0;
    if (result == 0 && before)
        *before = shown;
    return result;
}

bool signal_stack_is_too_small(const stack_t *stack)
{
    return !(stack->ss_flags & SS_DISABLE) && stack->ss_size < getauxval(AT_MINSIGSTKSZ) + FRAME;
}

#if defined(__x86_64__)

void signal_stack_call(signal_handler *handler, int number, siginfo_t *info, void *context)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), begin = (uintptr_t)mine;
    if (!mine || (here >= begin && here < begin + STACK_BYTES)) {
        handler(number, info, context);
        return;
    }
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[top], %%rsp\n\t"
                     "call *%[handler]\n\t"
                     "movq %%rbx, %%rsp"
                     : "+D"(number), "+S"(info), "+d"(context)
                     : [top] "r"(mine + STACK_BYTES), [handler] "r"(handler)
                     : "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "cc", "memory", "xmm0", "xmm1", "xmm2",
                       "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
                       "xmm13", "xmm14", "xmm15");
}

#else

void signal_stack_call(signal_handler *handler, int number, siginfo_t *info, void *context)
{
    handler(number, info, context);
}

#endif
