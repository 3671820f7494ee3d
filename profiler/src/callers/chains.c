#include "chains.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <unwind.h>

#include "call_nodes.h"

/* The compiler's unwinder, which reads the unwind tables of all objects; without it a chain ends at once. */
static struct {
    bool looked_for;
    _Unwind_Reason_Code (*walk)(_Unwind_Trace_Fn, void *);
    _Unwind_Ptr (*address)(struct _Unwind_Context *);
} iolens_unwinder;

static bool has_unwinder(void)
{
    if (!iolens_unwinder.looked_for) {
        void *library = dlopen("libgcc_s.so.1", RTLD_LAZY);
        void *walk = library ? dlsym(library, "_Unwind_Backtrace") : NULL;
        iolens_unwinder.address =
            (__typeof__(iolens_unwinder.address))(library ? dlsym(library, "_Unwind_GetIP") : NULL);
        iolens_unwinder.walk = (__typeof__(iolens_unwinder.walk))(iolens_unwinder.address ? walk : NULL);
        iolens_unwinder.looked_for = true;
    }
    return iolens_unwinder.walk;
}

struct chain {
    uintptr_t caller;
    int depth, known;
    uintptr_t frame[CHAIN_MOST];
};

/* The recorder's own frames lie in front of the caller. */
static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *given)
{
    struct chain *chain = given;
    uintptr_t address = iolens_unwinder.address(context);
    if (chain->known > 0 || address == chain->caller)
        chain->frame[chain->known++] = address;
    return chain->known < chain->depth ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* Nodes are made from the outside, since each is the child of the one that called it. */
uint32_t chain_node(uintptr_t caller, int depth)
{
    struct chain chain = {.caller = caller, .depth = depth};
    if (depth > 1 && has_unwinder())
        iolens_unwinder.walk(take_frame, &chain);
    uint32_t node = CALL_NODE_NONE;
    for (int i = chain.known - 1; i > 0; i--)
        node = call_node(node, chain.frame[i], false);
    return call_node(node, caller, false);
}
