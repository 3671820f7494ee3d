#include "unwind.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cfi.h"
#include "expression.h"
#include "generated.h"
#include "steps.h"
#include "../system/system_call.h"

enum { WORD = sizeof(uintptr_t) };

/* registers.h has the register numbers of x86-64 only. */
#if defined(__x86_64__)
static const bool has_tables = true;
#else
static const bool has_tables = false;
#endif

/* Assumed size of an unlimited main stack; the distance to other memory is far larger. */
static const rlim_t LARGEST_STACK = (rlim_t)1 << 36;

static uintptr_t stack_end; /* End of the main thread's stack; 0 if unknown. */

void unwind_start(void)
{
    const uintptr_t *end = dlsym(RTLD_DEFAULT, "__libc_stack_end");
    stack_end = end ? *end : 0;
    unwind_objects_start();
}

static struct stack_span main_stack(void)
{
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < LARGEST_STACK;
    return (struct stack_span){stack_end - (limited ? limit.rlim_cur : LARGEST_STACK), stack_end};
}

void unwind_prepare(void) { steps_prepare(); }

struct stack_span unwind_stack(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    struct stack_span span = {0, 0};
    if (system_call(SYS_getpid) == system_call(SYS_gettid) && stack_end)
        return main_stack();
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return span;
    if (pthread_attr_getstack(&attributes, &low, &bytes) == 0)
        span = (struct stack_span){(uintptr_t)low, (uintptr_t)low + bytes};
    pthread_attr_destroy(&attributes);
    return span;
}

static bool saved_value(const struct rule *rule, unsigned number, uintptr_t frame,
                        const struct registers *registers, const struct stack_span *stack, uintptr_t *value)
{
    uintptr_t place = frame + (uintptr_t)(intptr_t)rule->value;
    switch (rule->kind) {
    case RULE_SAME:
        *value = registers->value[number];
        return register_known(registers, number);
    case RULE_OFFSET:
        return stack_word(stack, place, value);
    case RULE_VALUE_OFFSET:
        *value = place;
        return true;
    case RULE_REGISTER:
        *value = rule->from < REGISTER_COUNT ? registers->value[rule->from] + (uintptr_t)rule->value : 0;
        return register_known(registers, rule->from);
    case RULE_EXPRESSION:
        return expression_value(rule, registers, stack, &frame, &place) && stack_word(stack, place, value);
    case RULE_VALUE_EXPRESSION:
        return expression_value(rule, registers, stack, &frame, value);
    default:
        return false;
    }
}

/* Computes the caller's registers from a frame's. Returns false if there is no caller, or if it cannot be
 * known. */
static bool apply(const struct cfi_row *row, struct registers *registers, const struct stack_span *stack)
{
    struct registers caller = {.known = 1u << REGISTER_STACK};
    uintptr_t frame;
    bool known = row->frame.kind == RULE_VALUE_EXPRESSION
                     ? expression_value(&row->frame, registers, stack, NULL, &frame)
                     : saved_value(&row->frame, 0, 0, registers, stack, &frame);
    if (!known)
        return false;
    caller.value[REGISTER_STACK] = frame;
    for (unsigned r = 0; r < REGISTER_COUNT; r++)
        if ((r != REGISTER_STACK || row->saved[r].kind != RULE_SAME) &&
            saved_value(&row->saved[r], r, frame, registers, stack, &caller.value[r]))
            caller.known |= 1u << r;
    *registers = caller;
    return register_known(registers, REGISTER_RETURN);
}

/* Steps out without a table, from a function that begins by pushing and setting the frame pointer. */
static bool follow_frame_pointer(struct registers *registers, const struct stack_span *stack)
{
    uintptr_t at = registers->value[REGISTER_FRAME], frame, caller;
    if (!register_known(registers, REGISTER_FRAME) || at < registers->value[REGISTER_STACK] ||
        at < stack->low || at >= stack->high || !stack_word(stack, at, &frame) ||
        !stack_word(stack, at + WORD, &caller))
        return false;
    *registers =
        (struct registers){.known = 1u << REGISTER_FRAME | 1u << REGISTER_STACK | 1u << REGISTER_RETURN};
    registers->value[REGISTER_FRAME] = frame;
    registers->value[REGISTER_STACK] = at + 2 * WORD;
    registers->value[REGISTER_RETURN] = caller;
    return true;
}

/* Steps from a frame to its caller. The register for the return address holds the frame's own instruction.
 * `at->called` is true if that is a return address: it may lie in the next function if the call was the last
 * instruction, so `address` is then 1 less. Returns false if there is no caller, or if it cannot be known. */
static bool leave_by_tables(struct unwinding *at, const struct unwind_object *object, uintptr_t address)
{
    struct cfi_row row;
    uintptr_t before = at->registers.value[REGISTER_STACK];
    bool described = object && cfi_row_at(object, address, &row);
    at->whole = described && row.saved[REGISTER_RETURN].kind == RULE_UNDEFINED;
    if (at->whole || !(described ? apply(&row, &at->registers, &at->stack)
                                 : follow_frame_pointer(&at->registers, &at->stack)))
        return false;
    at->called = !(described && row.signal_frame);
    return !at->called || at->registers.value[REGISTER_STACK] > before;
}

/* Steps out of a frame; nothing is remembered if `steps` is NULL. */
static bool leave_frame(struct unwinding *at, struct steps *steps)
{
    struct unwind_object object;
    uintptr_t before = at->registers.value[REGISTER_STACK];
    uintptr_t address = at->registers.value[REGISTER_RETURN] - at->called;
    bool inside = has_tables && unwind_object_at(address, &object);
    enum step_result step = STEP_UNUSUAL;
    if (steps && inside && at->called)
        step = step_out(steps, &object, address, &at->registers, &at->stack);
    at->whole = step == STEP_OUTERMOST;
    if (step != STEP_UNUSUAL)
        return !at->whole && at->registers.value[REGISTER_STACK] > before;
    if (has_tables && !inside && at->called && generated_step(&at->registers, &at->stack))
        return true;
    return leave_by_tables(at, inside ? &object : NULL, address);
}

static bool next(struct unwinding *at, struct steps *steps, uintptr_t *frame)
{
    if (at->ended)
        return false;
    *frame = at->registers.value[REGISTER_RETURN];
    if (*frame == 0)
        at->ended = at->whole = true;
    else
        at->ended = !leave_frame(at, steps);
    return *frame != 0;
}

static struct unwound walk(struct unwinding *at, struct steps *steps, uintptr_t *frames, size_t most)
{
    struct unwound unwound = {0};
    while (unwound.count < most && next(at, steps, &frames[unwound.count]))
        unwound.count++;
    unwound.whole = at->whole;
    return unwound;
}

#if defined(__x86_64__)
struct unwound unwind_context(const ucontext_t *context, struct stack_span stack, uintptr_t *frames,
                              size_t most)
{
    static const int order[REGISTER_COUNT] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                              REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                              REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    struct unwinding at = {.registers.known = (1u << REGISTER_COUNT) - 1, .stack = stack};
    for (int r = 0; r < REGISTER_COUNT; r++)
        at.registers.value[r] = (uintptr_t)context->uc_mcontext.gregs[order[r]];
    return walk(&at, steps_of_handlers(), frames, most);
}
#elif defined(__aarch64__)
/* Uses only frame pointers, which compilers for this architecture keep. */
struct unwound unwind_context(const ucontext_t *context, struct stack_span stack, uintptr_t *frames,
                              size_t most)
{
    enum { FRAME_POINTER = 29 };
    struct unwinding at = {.stack = stack};
    at.registers.known = 1u << REGISTER_FRAME | 1u << REGISTER_STACK | 1u << REGISTER_RETURN;
    at.registers.value[REGISTER_FRAME] = (uintptr_t)context->uc_mcontext.regs[FRAME_POINTER];
    at.registers.value[REGISTER_STACK] = (uintptr_t)context->uc_mcontext.sp;
    at.registers.value[REGISTER_RETURN] = (uintptr_t)context->uc_mcontext.pc;
    return walk(&at, steps_of_handlers(), frames, most);
}
#endif

struct unwinding unwind_begin(uintptr_t here, uintptr_t frame, struct stack_span stack)
{
    struct unwinding at = {.stack = stack, .called = true};
    at.registers.known = 1u << REGISTER_STACK | 1u << REGISTER_RETURN;
    at.registers.value[REGISTER_STACK] = frame + 2 * WORD;
    at.registers.value[REGISTER_RETURN] = here;
    if (stack_word(&stack, frame, &at.registers.value[REGISTER_FRAME]))
        at.registers.known |= 1u << REGISTER_FRAME;
    return at;
}

bool unwind_next(struct unwinding *at, uintptr_t *frame) { return next(at, steps_of_calls(), frame); }

struct unwound unwind_callers(uintptr_t here, uintptr_t frame, struct stack_span stack, uintptr_t *frames,
                              size_t most)
{
    struct unwinding at = unwind_begin(here, frame, stack);
    return walk(&at, NULL, frames, most);
}
