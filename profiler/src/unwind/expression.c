#include "expression.h"

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

bool expression_value(const struct rule *rule, const struct registers *registers,
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
