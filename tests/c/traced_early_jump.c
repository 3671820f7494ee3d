/* With -DLIBRARY, this is a library whose constructor makes a longjmp before the constructors of preloaded
 * libraries have run; otherwise a program that prints what the longjmp passed on. */
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
