#include "lustre.h"

#include <errno.h>
#include <string.h>
#include <sys/xattr.h>

#include "../core/area.h"
#include "../core/context.h"
#include "lustre_layout.h"

enum { USUAL_BYTES = 2048, LARGEST_BYTES = 65536 };

struct lustre_state {
    struct spin lock;
    bool composite;
    int64_t components, targets;
    struct lustre_component *component; /* `components` of them, in the arena */
    int64_t *target;                    /* `targets` of them, in component order */
};

/* First pass counts, second pass (arrays not NULL) fills. */
struct filling {
    int64_t components, targets, first_stripe_size;
    struct lustre_component *component;
    int64_t *target;
};

static void collect(void *context, const struct lustre_component *component, const unsigned char *objects)
{
    struct filling *f = context;
    if (f->component) {
        f->component[f->components] = *component;
        for (int64_t i = 0; i < component->stripe_count; i++)
            f->target[f->targets + i] = lustre_target(objects, i);
    }
    if (f->components++ == 0)
        f->first_stripe_size = component->stripe_size;
    f->targets += component->stripe_count;
}

static bool store(struct lustre_state *state, const unsigned char *bytes, size_t length,
                  struct filling *count)
{
    struct filling fill = {0};
    fill.component = arena_alloc(&iolens.arena, (size_t)count->components * sizeof *fill.component);
    fill.target = arena_alloc(&iolens.arena, (size_t)count->targets * sizeof *fill.target + 1);
    if (!fill.component || !fill.target)
        return false;
    lustre_walk(bytes, length, collect, &fill);
    spin_lock(&state->lock);
    state->components = fill.components;
    state->targets = fill.targets;
    state->component = fill.component;
    state->target = fill.target;
    state->composite = lustre_is_composite(bytes, length);
    spin_unlock(&state->lock);
    return true;
}

static int64_t note(struct file *file, const unsigned char *bytes, size_t length)
{
    struct filling count = {0};
    if (!lustre_walk(bytes, length, collect, &count) || count.components == 0)
        return 0;
    struct lustre_state *state = registry_state(file, MODULE_LUSTRE, -1);
    if (state && count.components != state->components && !store(state, bytes, length, &count))
        registry_leave_out(1u << MODULE_LUSTRE);
    return count.first_stripe_size;
}

/* A rare large layout is read into pages of its own, since the stack of a thread may be small. */
static int64_t look(struct file *file, int fd)
{
    unsigned char usual[USUAL_BYTES];
    ssize_t length = fgetxattr(fd, "lustre.lov", usual, sizeof usual);
    if (length > 0)
        return note(file, usual, (size_t)length);
    if (length < 0 && errno == EOPNOTSUPP)
        file->unstriped = true;
    unsigned char *large = length < 0 && errno == ERANGE ? pages_alloc(LARGEST_BYTES) : NULL;
    if (!large)
        return 0;
    length = fgetxattr(fd, "lustre.lov", large, LARGEST_BYTES);
    int64_t stripe_size = length > 0 ? note(file, large, (size_t)length) : 0;
    pages_free(large, LARGEST_BYTES);
    return stripe_size;
}

int64_t lustre_on_open(struct file *file, int fd)
{
    const struct lustre_state *known = file->state[MODULE_LUSTRE];
    if (known && known->components > 0)
        return known->component[0].stripe_size;
    return file->unstriped ? 0 : look(file, fd);
}

void lustre_on_close(struct file *file, int fd)
{
    const struct lustre_state *known = file->state[MODULE_LUSTRE];
    if (known && known->composite)
        look(file, fd);
}

/* id, rank, components, targets; the components; the targets' indices. */
static size_t lustre_serialize(const void *state, const struct file *file, int64_t rank, void *buffer)
{
    const struct lustre_state *s = state;
    const int64_t head[4] = {(int64_t)file->id, rank, s->components, s->targets};
    size_t components = (size_t)s->components * sizeof *s->component;
    size_t targets = (size_t)s->targets * sizeof *s->target;
    if (buffer) {
        memcpy(buffer, head, sizeof head);
        memcpy((char *)buffer + sizeof head, s->component, components);
        memcpy((char *)buffer + sizeof head + components, s->target, targets);
    }
    return sizeof head + components + targets;
}

static bool lustre_sound(const void *state, const struct area *area)
{
    const struct lustre_state *s = state;
    return s->components == 0 ||
           (area_holds(area, s->component, sizeof *s->component, (size_t)s->components) &&
            area_holds(area, s->target, sizeof *s->target, (size_t)s->targets));
}

const struct module module_LUSTRE = {
    .id = 8,
    .version = 2,
    .name = "LUSTRE",
    .state_bytes = sizeof(struct lustre_state),
    .sound = lustre_sound,
    .serialize = lustre_serialize,
};
