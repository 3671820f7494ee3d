#include "unwind.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/resource.h>

#include "../system/system_call.h"
#include "cfi.h"

/* Evaluates DWARF expressions as unwind tables use them (DWARF 5, section 2.5). */

enum { MOST_VALUES = 16 };

struct values {
    uintptr_t value[MOST_VALUES];
    int count;
    bool bad;
};

static void push(struct values *values, uintptr_t value)
{
    values->bad |= values->count == MOST_VALUES;
    if (!values->bad)
        values->value[values->count++] = value;
}

static uintptr_t pop(struct values *values)
{
    values->bad |= values->count == 0;
    return values->bad ? 0 : values->value[--values->count];
}

/* Handles DW_OP_addr, const1u … consts and lit0 … lit31; returns false for other operations. */
static bool constant(struct values *values, struct cursor *cursor, uint8_t code)
{
    if (code >= 0x08 && code <= 0x0f)
        push(values, cursor_number(cursor, 1u << (code - 0x08) / 2, code & 1));
    else if (code == 0x03)
        push(values, cursor_number(cursor, 8, false));
    else if (code == 0x10 || code == 0x11)
        push(values, cursor_leb(cursor, code == 0x11));
    else if (code >= 0x30 && code <= 0x4f)
        push(values, code - 0x30u);
    else
        return false;
    return true;
}

/* Replaces the two topmost values of the stack by the result of an operation on them. */
static bool combine(struct values *values, uint8_t code)
{
    if (code < 0x1a || code > 0x2e || code == 0x1f || code == 0x20 || code == 0x23 || code == 0x28)
        return false;
    uintptr_t second = pop(values), first = pop(values);
    switch (code) {
    case 0x1a:
        push(values, first & second);
        return true;
    case 0x1c:
        push(values, first - second);
        return true;
    case 0x1e:
        push(values, first * second);
        return true;
    case 0x21:
        push(values, first | second);
        return true;
    case 0x22:
        push(values, first + second);
        return true;
    case 0x24:
        push(values, second < 64 ? first << second : 0);
        return true;
    case 0x25:
        push(values, second < 64 ? first >> second : 0);
        return true;
    case 0x2a:
        push(values, (intptr_t)first >= (intptr_t)second);
        return true;
    case 0x2b:
        push(values, (intptr_t)first > (intptr_t)second);
        return true;
    default:
        values->bad = true;
        return true;
    }
}

static void step(struct values *values, struct cursor *cursor, const struct registers *registers,
                 const struct stack_span *stack)
{
    uint8_t code = cursor_byte(cursor);
    uintptr_t word = 0;
    if (constant(values, cursor, code) || combine(values, code))
        return;
    if (code >= 0x70 && code <= 0x8f) { /* These are the operations breg0 to breg31. */
        values->bad |= !register_known(registers, code - 0x70u);
        push(values, values->bad ? 0 : registers->value[code - 0x70] + (uintptr_t)cursor_sleb(cursor));
    } else if (code == 0x06) { /* deref */
        values->bad |= !stack_word(stack, pop(values), &word);
        push(values, word);
    } else if (code == 0x12) { /* dup */
        word = pop(values);
        push(values, word);
        push(values, word);
    } else if (code == 0x23) { /* plus_uconst */
        push(values, pop(values) + cursor_uleb(cursor));
    } else if (code != 0x96) { /* nop */
        values->bad = true;
    }
}

/* Evaluates the rule's expression. If `first` is not NULL, the stack of the evaluation begins with that
 * value. Returns false if the expression has an unknown form or needs an unknown value. */
static bool expression_value(const struct rule *rule, const struct registers *registers,
                             const struct stack_span *stack, const uintptr_t *first, uintptr_t *value)
{
    struct cursor cursor = {rule->expression, rule->expression + rule->value, false};
    struct values values = {.count = 0};
    if (first)
        push(&values, *first);
    while (cursor.at < cursor.end && !cursor.bad && !values.bad)
        step(&values, &cursor, registers, stack);
    *value = pop(&values);
    return !cursor.bad && !values.bad;
}

/* Steps out of code that the program generated at run time, which lies in no object and has no unwind
 * tables. */

enum { WORD = sizeof(uintptr_t), LEAST_NEGATIVE = 0x80 };

/* Steps out of a function that made a call, and whose code behind the call is `add $N,%rsp; ret`. CPython's
 * perf trampoline for x86-64 has this form, one for each Python function. Returns false and changes nothing
 * if the instructions behind the call differ, or if the return address lies in no object. */
static bool generated_step(struct registers *registers, const struct stack_span *stack)
{
    static const uint8_t ADD_TO_STACK_POINTER[] = {0x48, 0x83, 0xc4}, RETURN = 0xc3;
    struct {
        uint8_t add[sizeof ADD_TO_STACK_POINTER], bytes, leave;
    } behind;
    struct unwind_object object;
    uintptr_t caller;
    if (!memory_copied(registers->value[REGISTER_RETURN], &behind, sizeof behind) ||
        memcmp(behind.add, ADD_TO_STACK_POINTER, sizeof behind.add) != 0 || behind.leave != RETURN ||
        behind.bytes >= LEAST_NEGATIVE)
        return false;
    uintptr_t place = registers->value[REGISTER_STACK] + behind.bytes;
    if (!stack_word(stack, place, &caller) || !unwind_object_at(caller - 1, &object))
        return false;
    registers->value[REGISTER_STACK] = place + WORD;
    registers->value[REGISTER_RETURN] = caller;
    return true;
}

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
