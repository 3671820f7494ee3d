/* dlsym and dlopen moved from libdl to libc in glibc 2.34 and took a new version there. Asking for the first
 * version lets the library load where the C library is older, for example in a container. */
#ifndef IOLENS_OLD_LIBC_H
#define IOLENS_OLD_LIBC_H

#if defined(__x86_64__)
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
__asm__(".symver dlopen,dlopen@GLIBC_2.2.5");
#endif

#endif
