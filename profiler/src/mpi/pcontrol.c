/* MPI_Pcontrol, by which a program controls any profiler. The levels are those of the MPI standard. */
#include <stdarg.h>

#include "core.h"
#include "wrap.h"

enum { LEVEL_OFF, LEVEL_ON, LEVEL_FLUSH, WORDS = 4 };

static void obey(int level)
{
    if (!iolens_record || level < LEVEL_OFF || level > LEVEL_FLUSH)
        return;
    if (level == LEVEL_FLUSH)
        iolens_flush();
    else
        iolens_record(level == LEVEL_ON);
}

/* Arguments after the level belong to another tool, so several words are passed on unchanged. */
#define PCONTROL(name)                                                                                       \
    IOLENS_EXPORT int name(const int level, ...)                                                             \
    {                                                                                                        \
        intptr_t word[WORDS];                                                                                \
        va_list list;                                                                                        \
        va_start(list, level);                                                                               \
        for (int i = 0; i < WORDS; i++)                                                                      \
            word[i] = va_arg(list, intptr_t);                                                                \
        va_end(list);                                                                                        \
        obey(level);                                                                                         \
        return CALL_REAL(#name, name, (level, word[0], word[1], word[2], word[3]));                          \
    }

PCONTROL(MPI_Pcontrol)
PCONTROL(PMPI_Pcontrol)
