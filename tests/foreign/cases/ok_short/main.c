/* Ends after a few lines of output. */
#include <stdio.h>

int main(void)
{
    FILE *stream = fopen("note.txt", "w");
    for (int i = 0; i < 10; i++)
        fprintf(stream, "line %d\n", i);
    fclose(stream);
    puts("lines 10");
    return 0;
}
