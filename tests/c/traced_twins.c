/* With -DMAIN, this is a program that loads two modules privately. With -DMODULE, it is a module. Else it is
 * a library that a module is linked with; both libraries have functions of the same names, which answer with
 * their own ANSWER. */
#ifdef MAIN
#include <dlfcn.h>
#include <stdio.h>

static void show(void *module)
{
    int (*ask)(void) = (int (*)(void))dlsym(module, "ask");
    printf("%d\n", ask());
}

int main(void)
{
    void *one = dlopen("./one.so", RTLD_NOW | RTLD_LOCAL),
         *other = dlopen("./other.so", RTLD_NOW | RTLD_LOCAL);
    if (!one || !other)
        return 1;
    for (int i = 0; i < 2; i++) {
        show(one);
        show(other);
    }
    return 0;
}
#elif defined(MODULE)
int H5Fflush(long object, int scope);
long H5Pcreate(long class);

int ask(void)
{
    int flushed = H5Fflush(1, 0);
    return 10 * flushed - (int)H5Pcreate(1);
}
#else
int H5open(void) { return 0; }
int H5Fflush(long object, int scope) { return object || scope ? -ANSWER : 0; }
long H5Pcreate(long class) { return class * ANSWER; }
#endif
