#include "cfi.h"

/* DW_EH_PE_*: the format of a number (low four bits), and the base that is added to it. */
enum { STORED_MASK = 0x0f, RELATIVE_MASK = 0x70, RELATIVE_HERE = 0x10, TABLE_FORM = 0x3b };

enum { MOST_REMEMBERED = 3, RETURN_COLUMN = REGISTER_RETURN, HEADER_BYTES = 4, ENTRY_BYTES = 8 };

/* The contents of a common information entry (CIE). */
struct common {
    uint64_t code_unit;
    int64_t data_unit;
    uint8_t address_form;
    bool signal_frame, augmented;
    struct cursor instructions;
};

/* The state of the rules while instructions are read. */
struct machine {
    const struct common *common;
    uintptr_t at, wanted;
    struct cfi_row row, initial, remembered[MOST_REMEMBERED];
    int depth;
};

static uint64_t stored(struct cursor *cursor, uint8_t form)
{
    switch (form & STORED_MASK) {
    case 0x00:
    case 0x04:
    case 0x0c:
        return cursor_number(cursor, 8, false);
    case 0x01:
        return cursor_uleb(cursor);
    case 0x02:
        return cursor_number(cursor, 2, false);
    case 0x03:
        return cursor_number(cursor, 4, false);
    case 0x09:
        return (uint64_t)cursor_sleb(cursor);
    case 0x0a:
        return cursor_number(cursor, 2, true);
    case 0x0b:
        return cursor_number(cursor, 4, true);
    default:
        cursor->bad = true;
        return 0;
    }
}

static uintptr_t encoded(struct cursor *cursor, uint8_t form)
{
    uintptr_t here = (uintptr_t)cursor->at;
    uint64_t value = stored(cursor, form);
    cursor->bad |= (form & RELATIVE_MASK) != 0 && (form & RELATIVE_MASK) != RELATIVE_HERE;
    return (form & RELATIVE_MASK) == RELATIVE_HERE ? here + value : value;
}

/* Finds the frame description (FDE) for an address in the sorted table of .eh_frame_hdr: that of the last
 * function that begins at or before the address; 0 if there is none. Only the form of the table that linkers
 * write is supported. */
static uintptr_t description_of(const struct unwind_object *object, uintptr_t address)
{
    struct cursor cursor = {(const uint8_t *)object->header, (const uint8_t *)object->end, false};
    uint8_t version = cursor_byte(&cursor), frame_form = cursor_byte(&cursor);
    uint8_t count_form = cursor_byte(&cursor), table_form = cursor_byte(&cursor);
    encoded(&cursor, frame_form);
    uint64_t count = stored(&cursor, count_form);
    if (cursor.bad || version != 1 || table_form != TABLE_FORM || count == 0 ||
        count > (uint64_t)(cursor.end - cursor.at) / ENTRY_BYTES)
        return 0;
    const int32_t *table = (const int32_t *)cursor.at;
    int64_t wanted = (int64_t)(address - object->header);
    uint64_t low = 0, high = count;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (table[2 * middle] <= wanted)
            low = middle;
        else
            high = middle;
    }
    return table[2 * low] <= wanted ? object->header + (uintptr_t)(intptr_t)table[2 * low + 1] : 0;
}

/* Returns a cursor over an entry of .eh_frame, without its length field. */
static struct cursor entry_at(const struct unwind_object *object, uintptr_t address)
{
    struct cursor cursor = {(const uint8_t *)address, (const uint8_t *)object->end, false};
    cursor.bad = address < object->begin || address >= object->end;
    uint64_t bytes = cursor_number(&cursor, 4, false);
    return cursor_block(&cursor, bytes == 0 ? UINT64_MAX : bytes);
}

/* Reads the fields that are announced by the letters of a CIE's augmentation string. */
static void read_augmentation(struct cursor *cursor, const char *letters, struct common *common)
{
    for (; *letters && !cursor->bad; letters++) {
        switch (*letters) {
        case 'R':
            common->address_form = cursor_byte(cursor);
            break;
        case 'L':
            cursor_byte(cursor);
            break;
        case 'P':
            stored(cursor, cursor_byte(cursor));
            break;
        case 'S':
            common->signal_frame = true;
            break;
        default:
            cursor->bad = true;
        }
    }
}

static bool read_common(const struct unwind_object *object, uintptr_t address, struct common *common)
{
    struct cursor cursor = entry_at(object, address);
    uint64_t id = cursor_number(&cursor, 4, false);
    uint8_t version = cursor_byte(&cursor);
    const char *letters = (const char *)cursor.at;
    while (!cursor.bad && cursor_byte(&cursor) != 0)
        continue;
    if (cursor.bad || id != 0 || (version != 1 && version != 3) || (*letters && *letters != 'z'))
        return false;
    *common = (struct common){.augmented = *letters == 'z'};
    common->code_unit = cursor_uleb(&cursor);
    common->data_unit = cursor_sleb(&cursor);
    uint64_t column = version == 1 ? cursor_byte(&cursor) : cursor_uleb(&cursor);
    if (common->augmented) {
        struct cursor block = cursor_block(&cursor, cursor_uleb(&cursor));
        read_augmentation(&block, letters + 1, common);
        cursor.bad |= block.bad;
    }
    common->instructions = cursor;
    return !cursor.bad && column == RETURN_COLUMN;
}

static void set(struct machine *machine, uint64_t number, struct rule rule)
{
    if (number < REGISTER_COUNT)
        machine->row.saved[number] = rule;
}

static void set_expression(struct machine *machine, struct cursor *cursor, uint64_t number, uint8_t kind)
{
    struct cursor block = cursor_block(cursor, cursor_uleb(cursor));
    struct rule rule = {.kind = kind, .value = (int32_t)(block.end - block.at), .expression = block.at};
    if (number == UINT64_MAX)
        machine->row.frame = rule;
    else
        set(machine, number, rule);
}

static void restore(struct machine *machine, uint64_t number)
{
    if (number < REGISTER_COUNT)
        machine->row.saved[number] = machine->initial.saved[number];
}

static struct rule frame_rule(uint64_t from, int64_t value)
{
    return (struct rule){.kind = RULE_REGISTER, .from = (uint8_t)from, .value = (int32_t)value};
}

static int64_t data_offset(const struct machine *machine, struct cursor *cursor, bool is_signed)
{
    return (int64_t)cursor_leb(cursor, is_signed) * machine->common->data_unit;
}

/* Handles DW_CFA_def_cfa*; returns false for any other instruction. */
static bool set_frame(struct machine *machine, struct cursor *cursor, uint8_t code)
{
    struct rule *frame = &machine->row.frame;
    uint64_t from = code == 0x0c || code == 0x0d || code == 0x12 ? cursor_uleb(cursor) : frame->from;
    switch (code) {
    case 0x0c: /* def_cfa */
        *frame = frame_rule(from, (int64_t)cursor_uleb(cursor));
        return true;
    case 0x0d: /* def_cfa_register */
        *frame = frame_rule(from, frame->value);
        return true;
    case 0x0e: /* def_cfa_offset */
        *frame = frame_rule(from, (int64_t)cursor_uleb(cursor));
        return true;
    case 0x0f: /* def_cfa_expression */
        set_expression(machine, cursor, UINT64_MAX, RULE_VALUE_EXPRESSION);
        return true;
    case 0x12: /* def_cfa_sf */
    case 0x13: /* def_cfa_offset_sf */
        *frame = frame_rule(from, data_offset(machine, cursor, true));
        return true;
    default:
        return false;
    }
}

/* Handles instructions that set the rule of one register; returns false for any other instruction. */
static bool set_register(struct machine *machine, struct cursor *cursor, uint8_t code)
{
    static const uint8_t kinds[] = {
        [0x05] = RULE_OFFSET,       [0x07] = RULE_UNDEFINED,    [0x08] = RULE_SAME,
        [0x09] = RULE_REGISTER,     [0x10] = RULE_EXPRESSION,   [0x11] = RULE_OFFSET,
        [0x14] = RULE_VALUE_OFFSET, [0x15] = RULE_VALUE_OFFSET, [0x16] = RULE_VALUE_EXPRESSION,
        [0x06] = RULE_SAME};
    bool known = code < sizeof kinds && (kinds[code] || code == 0x06 || code == 0x08);
    if (!known)
        return false;
    uint64_t number = cursor_uleb(cursor);
    struct rule rule = {.kind = kinds[code]};
    if (code == 0x06)
        restore(machine, number);
    else if (rule.kind == RULE_EXPRESSION || rule.kind == RULE_VALUE_EXPRESSION)
        set_expression(machine, cursor, number, rule.kind);
    else {
        if (rule.kind == RULE_OFFSET || rule.kind == RULE_VALUE_OFFSET)
            rule.value = (int32_t)data_offset(machine, cursor, code == 0x11 || code == 0x15);
        if (rule.kind == RULE_REGISTER)
            rule.from = (uint8_t)cursor_uleb(cursor);
        set(machine, number, rule);
    }
    return true;
}

/* Handles instructions that advance the address; returns false for any other instruction. */
static bool advance(struct machine *machine, struct cursor *cursor, uint8_t code)
{
    uint64_t units;
    if (code == 0x01) {
        machine->at = encoded(cursor, machine->common->address_form);
        return true;
    }
    if (code >> 6 == 1)
        units = code & 0x3f;
    else if (code >= 0x02 && code <= 0x04)
        units = cursor_number(cursor, 1u << (code - 2), false);
    else
        return false;
    machine->at += units * machine->common->code_unit;
    return true;
}

static void step(struct machine *machine, struct cursor *cursor, uint8_t code)
{
    uint8_t low = code & 0x3f;
    if (code >> 6 == 2)
        set(machine, low,
            (struct rule){.kind = RULE_OFFSET, .value = (int32_t)data_offset(machine, cursor, false)});
    else if (code >> 6 == 3)
        restore(machine, low);
    else if (code == 0x0a && machine->depth < MOST_REMEMBERED)
        machine->remembered[machine->depth++] = machine->row;
    else if (code == 0x0b && machine->depth > 0)
        machine->row = machine->remembered[--machine->depth];
    else if (code == 0x2e) /* Opcode 0x2e is DW_CFA_GNU_args_size, which is not needed here. */
        cursor_uleb(cursor);
    else if (code != 0 && !set_frame(machine, cursor, code) && !set_register(machine, cursor, code))
        cursor->bad = true;
}

static bool play(struct machine *machine, struct cursor cursor)
{
    while (cursor.at < cursor.end && !cursor.bad) {
        uint8_t code = cursor_byte(&cursor);
        if (!advance(machine, &cursor, code))
            step(machine, &cursor, code);
        else if (machine->at > machine->wanted)
            break;
    }
    return !cursor.bad;
}

bool cfi_row_at(const struct unwind_object *object, uintptr_t address, struct cfi_row *row)
{
    struct common common;
    uintptr_t where = object->header ? description_of(object, address) : 0;
    struct cursor cursor = entry_at(object, where);
    uintptr_t here = (uintptr_t)cursor.at;
    uint64_t back = cursor_number(&cursor, 4, false);
    if (where == 0 || cursor.bad || back == 0 || !read_common(object, here - back, &common))
        return false;
    uintptr_t begin = encoded(&cursor, common.address_form);
    uint64_t bytes = stored(&cursor, common.address_form);
    if (common.augmented)
        cursor_block(&cursor, cursor_uleb(&cursor));
    if (cursor.bad || address < begin || address - begin >= bytes)
        return false;
    struct machine machine = {.common = &common, .at = 0, .wanted = UINTPTR_MAX};
    if (!play(&machine, common.instructions))
        return false;
    machine.initial = machine.row;
    machine.at = begin;
    machine.wanted = address;
    if (!play(&machine, cursor))
        return false;
    *row = machine.row;
    row->signal_frame = common.signal_frame;
    return true;
}
