/* How the rows of a table of calls are read. A table has one row per function:
 *
 *   CALL    (kind, return type, name, arguments...)
 *   CALL64  (kind, return type, name, name of its 64-bit twin, arguments...)
 *   CALL_AS (variant, kind, return type, name, arguments...)
 *   VARIADIC(kind, return type, name, target, last, variable, named arguments...)
 *
 * An argument is named by its role: fd, path, offset. TYPE_<role>(variant), defined beside the table, is its
 * type, which may depend on the variant: empty, 64 for a twin, or what CALL_AS says. From the roles come the
 * parameters, (int fd, off_t offset), and the arguments, (fd, offset).
 * The kind says what the call does; functions that differ only in name or form share a kind. A file that
 * includes a table defines ON_<kind>(return type, name, parameters, arguments) for each kind: the wrapper, or
 * nothing if such functions are not wrapped. In a VARIADIC row, `last` is the last named argument, and
 * FETCH_<variable> reads the variable argument. The call is passed on to `target`, a function that takes this
 * argument as an ordinary one. ON_<kind> gets return type, name, parameters, last, fetching statement,
 * parameters of the target, target, arguments. */
#ifndef CALLS_ROW_H
#define CALLS_ROW_H

#define CALL(kind, ret_t, name, ...) CALL_AS(, kind, ret_t, name, ##__VA_ARGS__)

#define CALL64(kind, ret_t, name, twin, ...)                                                                 \
    CALL_AS(, kind, ret_t, name, __VA_ARGS__)                                                                \
    CALL_AS(64, kind, ret_t, twin, __VA_ARGS__)

#define CALL_AS(variant, kind, ret_t, name, ...)                                                             \
    ON_##kind(ret_t, name, (PARAMETERS(variant, ##__VA_ARGS__)), (__VA_ARGS__))

#define VARIADIC(kind, ret_t, name, target, last, variable, ...)                                             \
    ON_##kind(ret_t, name, (PARAMETERS(, __VA_ARGS__), ...), last, FETCH_##variable,                         \
              (PARAMETERS(, __VA_ARGS__, variable)), target, (__VA_ARGS__, variable))

/* Declares up to 14 parameters; a call without arguments gets `void`. */
#define PARAMETERS(variant, ...)    PARAMETERS_OF(HOW_MANY(__VA_ARGS__), variant, ##__VA_ARGS__)
#define PARAMETERS_OF(many, ...)    PARAMETERS_PASTE(many, __VA_ARGS__)
#define PARAMETERS_PASTE(many, ...) PARAMETERS_##many(__VA_ARGS__)

#define HOW_MANY(...) HOW_MANY_OF(0, ##__VA_ARGS__, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)

#define HOW_MANY_OF(zero, a, b, c, d, e, f, g, h, i, j, k, l, m, n, many, ...) many

#define PARAMETERS_0(as)          void
#define PARAMETERS_1(as, a)       TYPE_##a(as) a
#define PARAMETERS_2(as, a, ...)  TYPE_##a(as) a, PARAMETERS_1(as, __VA_ARGS__)
#define PARAMETERS_3(as, a, ...)  TYPE_##a(as) a, PARAMETERS_2(as, __VA_ARGS__)
#define PARAMETERS_4(as, a, ...)  TYPE_##a(as) a, PARAMETERS_3(as, __VA_ARGS__)
#define PARAMETERS_5(as, a, ...)  TYPE_##a(as) a, PARAMETERS_4(as, __VA_ARGS__)
#define PARAMETERS_6(as, a, ...)  TYPE_##a(as) a, PARAMETERS_5(as, __VA_ARGS__)
#define PARAMETERS_7(as, a, ...)  TYPE_##a(as) a, PARAMETERS_6(as, __VA_ARGS__)
#define PARAMETERS_8(as, a, ...)  TYPE_##a(as) a, PARAMETERS_7(as, __VA_ARGS__)
#define PARAMETERS_9(as, a, ...)  TYPE_##a(as) a, PARAMETERS_8(as, __VA_ARGS__)
#define PARAMETERS_10(as, a, ...) TYPE_##a(as) a, PARAMETERS_9(as, __VA_ARGS__)
#define PARAMETERS_11(as, a, ...) TYPE_##a(as) a, PARAMETERS_10(as, __VA_ARGS__)
#define PARAMETERS_12(as, a, ...) TYPE_##a(as) a, PARAMETERS_11(as, __VA_ARGS__)
#define PARAMETERS_13(as, a, ...) TYPE_##a(as) a, PARAMETERS_12(as, __VA_ARGS__)
#define PARAMETERS_14(as, a, ...) TYPE_##a(as) a, PARAMETERS_13(as, __VA_ARGS__)

#endif
