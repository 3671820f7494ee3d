/* The types of the arguments in posix.def and stdio.def, see row.h. The same type serves file offsets in both
 * variants of a function, because off_t has 64 bits; structures have a separate type for each variant. */
#ifndef CALLS_LIBC_TYPES_H
#define CALLS_LIBC_TYPES_H

#include <stdarg.h>
#include <sys/types.h>
#include <wchar.h>

_Static_assert(sizeof(off_t) == 8, "off_t must have 8 bytes, as off64_t has");

/* Types of arguments that name files. */
#define TYPE_fd(_)         int
#define TYPE_copy(_)       int
#define TYPE_from(_)       int
#define TYPE_to(_)         int
#define TYPE_dir(_)        int
#define TYPE_from_dir(_)   int
#define TYPE_to_dir(_)     int
#define TYPE_first(_)      unsigned
#define TYPE_first_fd(_)   int
#define TYPE_last(_)       unsigned
#define TYPE_path(_)       const char *
#define TYPE_from_path(_)  const char *
#define TYPE_to_path(_)    const char *
#define TYPE_pattern(_)    char *
#define TYPE_suffix(_)     int
#define TYPE_folder(_)     DIR *
#define TYPE_flags(_)      int
#define TYPE_uflags(_)     unsigned
#define TYPE_mode(_)       mode_t
#define TYPE_space_mode(_) int
#define TYPE_command(_)    int
#define TYPE_request(_)    unsigned long

/* Types of arguments that describe memory. */
#define TYPE_memory(_)      void *
#define TYPE_data(_)        const void *
#define TYPE_vector(_)      const struct iovec *
#define TYPE_address(_)     void *
#define TYPE_protection(_)  int
#define TYPE_advice(_)      int
#define TYPE_new_bytes(_)   size_t
#define TYPE_new_address(_) void *
#define TYPE_value(_)       void *

/* Types of sizes and positions; `room` is the size of the memory that a fortified call knows of. */
#define TYPE_bytes(_)       size_t
#define TYPE_room(_)        size_t
#define TYPE_count(_)       int
#define TYPE_offset(_)      off_t
#define TYPE_file_bytes(_)  off_t
#define TYPE_from_offset(_) off_t *
#define TYPE_to_offset(_)   off_t *
#define TYPE_whence(_)      int

/* Types of attributes of files. */
#define TYPE_version(_)      int
#define TYPE_info(variant)   struct stat##variant *
#define TYPE_extended(_)     struct statx *
#define TYPE_wanted(_)       unsigned
#define TYPE_attribute(_)    const char *
#define TYPE_system(variant) struct statfs##variant *

/* Types of asynchronous requests. */
#define TYPE_control(variant)  struct aiocb##variant *
#define TYPE_controls(variant) struct aiocb##variant *const *
#define TYPE_list_mode(_)      int
#define TYPE_event(_)          struct sigevent *

/* Types of stdio streams. */
#define TYPE_stream(_)         FILE *
#define TYPE_open_mode(_)      const char *
#define TYPE_size(_)           size_t
#define TYPE_items(_)          size_t
#define TYPE_byte(_)           int
#define TYPE_word(_)           int
#define TYPE_text(_)           const char *
#define TYPE_string(_)         char *
#define TYPE_length(_)         int
#define TYPE_line(_)           char **
#define TYPE_capacity(_)       size_t *
#define TYPE_delimiter(_)      int
#define TYPE_format(_)         const char *
#define TYPE_list(_)           va_list
#define TYPE_wide(_)           wchar_t
#define TYPE_letter(_)         wint_t
#define TYPE_wide_text(_)      const wchar_t *
#define TYPE_wide_string(_)    wchar_t *
#define TYPE_wide_format(_)    const wchar_t *
#define TYPE_fortify(_)        int
#define TYPE_long_offset(_)    long
#define TYPE_position(variant) const fpos##variant##_t *

/* Types of optional arguments. */
#define FETCH_mode                                                                                           \
    mode_t mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0
#define FETCH_value       void *value = va_arg(list, void *)
#define FETCH_new_address void *new_address = flags & MREMAP_FIXED ? va_arg(list, void *) : NULL
#define FETCH_list

#endif
