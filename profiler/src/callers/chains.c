#include <link.h>
#include <string.h>

#include "../unwind/unwind.h"
#include "call_nodes.h"

enum { OWN_FRAMES = 32, MOST_BINDINGS = 4 };

/* Names of Fortran bindings: first Open MPI's, then MPICH's and those of MPICH's derivatives. */
static const char *const BINDINGS[] = {"libmpi_mpifh", "libmpi_usempi", "libmpifort", "libmpichf",
                                       "libfmpich"};

static struct {
    size_t number;
    struct {
        uintptr_t low, high;
    } range[MOST_BINDINGS];
} iolens_bindings;

static bool is_binding(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof BINDINGS / sizeof *BINDINGS; i++)
        if (strncmp(name, BINDINGS[i], strlen(BINDINGS[i])) == 0)
            return true;
    return false;
}

static int note_binding(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum && is_binding(info->dlpi_name); i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || iolens_bindings.number == MOST_BINDINGS)
            continue;
        uintptr_t low = info->dlpi_addr + part->p_vaddr;
        iolens_bindings.range[iolens_bindings.number].low = low;
        iolens_bindings.range[iolens_bindings.number++].high = low + part->p_memsz;
    }
    return 0;
}

void chains_start(void)
{
    iolens_bindings.number = 0;
    dl_iterate_phdr(note_binding, NULL);
    unwind_start();
}

static bool in_binding(uintptr_t address)
{
    for (size_t i = 0; i < iolens_bindings.number; i++)
        if (address >= iolens_bindings.range[i].low && address < iolens_bindings.range[i].high)
            return true;
    return false;
}

struct chain {
    uintptr_t frame[CHAIN_MOST];
    size_t count;
};

/* Fills in the chain of at most `depth` return addresses, from the caller outward. Left out are the
 * recorder's own frames, which precede the caller, and frames of a language binding, which follow it. In
 * MPI_Finalize the recorder is called by MPI, whose frames also precede the caller. */
static void find_chain(struct chain *chain, uintptr_t caller, size_t depth)
{
    static __thread struct stack_span stack __attribute__((tls_model("initial-exec")));
    if (stack.high == 0)
        stack = unwind_stack();
    struct unwinding walk =
        unwind_begin((uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0), stack);
    uintptr_t frame = 0;
    bool found = true;
    chain->count = 0;
    for (int i = 0; i < OWN_FRAMES && found && frame != caller; i++)
        found = unwind_next(&walk, &frame);
    found = found && frame == caller;
    for (int i = 0; i < MOST_BINDINGS && found && in_binding(frame); i++)
        found = unwind_next(&walk, &frame);
    while (found && chain->count < depth) {
        chain->frame[chain->count++] = frame;
        found = chain->count < depth && unwind_next(&walk, &frame);
    }
}

uintptr_t chain_program(uintptr_t caller)
{
    struct chain chain;
    if (!in_binding(caller))
        return caller;
    find_chain(&chain, caller, 1);
    return chain.count > 0 ? chain.frame[0] : caller;
}

/* Nodes are made from the outermost frame inwards, since each is the child of its caller. */
uint32_t chain_node(uintptr_t caller, int depth)
{
    struct chain chain;
    uint32_t node = CALL_NODE_NONE;
    chain.frame[0] = caller;
    chain.count = 1;
    if (depth > 1)
        find_chain(&chain, caller, (size_t)depth);
    for (size_t i = chain.count; i-- > 0;)
        node = call_node(node, chain.frame[i], false);
    return node != CALL_NODE_NONE ? node : call_node(CALL_NODE_NONE, caller, false);
}
