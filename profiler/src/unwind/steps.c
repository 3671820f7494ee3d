#include "../runtime/thread_room.h"
#include "cfi.h"

enum { STEPS = 256, WORD = sizeof(uintptr_t), KEPT = 6 };

/* Registers that a function preserves for its caller (System V ABI for x86-64, figure 3.4). */
static const uint8_t kept[KEPT] = {3, REGISTER_FRAME, 12, 13, 14, 15};

struct step {
    /* Address of the instruction to which the entry belongs, and start of its object file. */
    uintptr_t address, object;
    /* Distance from the frame pointer or the stack pointer to the caller's stack pointer, in bytes. */
    int32_t frame;
    bool by_frame;  /* True if that distance is measured from the frame pointer. */
    bool outermost; /* True if the function has no caller. */
    /* Distance of each saved register from the caller's stack pointer; 0: it was not saved. */
    int16_t saved[KEPT];
    unsigned gone; /* Value of unwind_objects_gone when this entry was made; an entry with an older value may
                      belong to an unloaded object. */
};

struct steps {
    struct step step[STEPS];
};

static struct thread_rooms iolens_steps = {.bytes = sizeof(struct steps)};
static __thread void *of_calls __attribute__((tls_model("initial-exec")));
static __thread void *of_handlers __attribute__((tls_model("initial-exec")));

struct steps *steps_of_calls(void) { return of_calls ? of_calls : thread_room(&iolens_steps, &of_calls); }

void steps_prepare(void)
{
    if (!of_handlers)
        thread_room(&iolens_steps, &of_handlers);
}

struct steps *steps_of_handlers(void) { return of_handlers; }

/* Fills in a step from the rules of a frame; returns false if the rules do not have the usual form. */
static bool read_rules(const struct cfi_row *row, struct step *step)
{
    const struct rule *caller = &row->saved[REGISTER_RETURN];
    step->outermost = caller->kind == RULE_UNDEFINED;
    if (step->outermost)
        return true;
    if (row->signal_frame || row->frame.kind != RULE_REGISTER || caller->kind != RULE_OFFSET ||
        caller->value != -WORD || row->saved[REGISTER_STACK].kind != RULE_SAME)
        return false;
    step->frame = row->frame.value;
    step->by_frame = row->frame.from == REGISTER_FRAME;
    for (int i = 0; i < KEPT; i++) {
        const struct rule *rule = &row->saved[kept[i]];
        bool saved = rule->kind == RULE_OFFSET && rule->value < 0 && rule->value >= INT16_MIN;
        if (!saved && rule->kind != RULE_SAME)
            return false;
        step->saved[i] = (int16_t)(saved ? rule->value : 0);
    }
    return step->by_frame || row->frame.from == REGISTER_STACK;
}

static const struct step *step_at(struct steps *steps, const struct unwind_object *object, uintptr_t address)
{
    struct step *step = &steps->step[(address ^ address >> 8) % STEPS];
    unsigned gone = unwind_objects_gone();
    if (step->address == address && step->object == object->begin && step->gone == gone)
        return step;
    struct step found = {.address = address, .object = object->begin, .gone = gone};
    struct cfi_row row;
    if (!cfi_row_at(object, address, &row) || !read_rules(&row, &found))
        return NULL;
    *step = found;
    return step;
}

enum step_result step_out(struct steps *steps, const struct unwind_object *object, uintptr_t address,
                          struct registers *registers, const struct stack_span *stack)
{
    const struct step *step = step_at(steps, object, address);
    if (step && step->outermost)
        return STEP_OUTERMOST;
    unsigned base = step && step->by_frame ? REGISTER_FRAME : REGISTER_STACK;
    if (!step || !register_known(registers, base))
        return STEP_UNUSUAL;
    uintptr_t frame = registers->value[base] + (uintptr_t)(intptr_t)step->frame, caller;
    if (!stack_word(stack, frame - WORD, &caller))
        return STEP_UNUSUAL;
    for (int i = 0; i < KEPT; i++) {
        unsigned r = kept[i];
        if (step->saved[i] == 0)
            continue;
        bool known = stack_word(stack, frame + (uintptr_t)(intptr_t)step->saved[i], &registers->value[r]);
        registers->known = known ? registers->known | 1u << r : registers->known & ~(1u << r);
    }
    registers->value[REGISTER_STACK] = frame;
    registers->value[REGISTER_RETURN] = caller;
    return STEP_TAKEN;
}
