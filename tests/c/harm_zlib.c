/* harm_zlib: a program that exports functions of a zlib of its own, of which the state has another form. */
#include <stdio.h>
#include <stdlib.h>

int deflateInit2_(void *stream) { abort(); }
int deflateReset(void *stream) { abort(); }

int main(void)
{
    FILE *stream = fopen("own.txt", "w");
    fputs("text", stream);
    fclose(stream);
    return 3;
}
