#include "generated.h"

#include <string.h>

#include "mapped_objects.h"

enum { WORD = sizeof(uintptr_t), LEAST_NEGATIVE = 0x80 };

bool generated_step(struct registers *registers, const struct stack_span *stack)
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
