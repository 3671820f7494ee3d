/* Wraps connect, which a signal may end early. */
#include "../../sampling/sampling.h"
#include "connections.h"

static __typeof__(&connect) real_connect;

static void resolve(void) { (void)&REAL(connect); }
__attribute__((constructor)) static void await_handlers(void) { wrap_resolve_for_handlers(resolve); }

IOLENS_EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    struct call c = {.function = "connect", .caller = __builtin_return_address(0)};
    if (iolens_active())
        RECORDER(c.mark = (int64_t)connections_cookie(fd));
    bool held = sampling_here() && HOLD(REAL(connect));
    c.t0 = clock_now(&iolens.clock);
    int ret = REAL(connect)(fd, address, length);
    c.t1 = clock_now(&iolens.clock);
    sampling_release(held);
    if (iolens_active())
        RECORDER(connections_on_connect(&c, ret, fd, address, length));
    return ret;
}
