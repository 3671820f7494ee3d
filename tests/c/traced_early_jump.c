/* With -DLIBRARY, a library whose constructor jumps, before those of libraries that are preloaded have run;
 * without, a program that prints what it found. */
#include <setjmp.h>
#include <stdio.h>

#ifdef LIBRARY
int returned;
static jmp_buf place;

__attribute__((constructor)) static void start(void)
{
    returned = setjmp(place);
    if (!returned)
        longjmp(place, 5);
}
#else
extern int returned;

int main(void)
{
    printf("%d\n", returned);
    return 0;
}
#endif
