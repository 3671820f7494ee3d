/* Asks for each record whether its configuration file changed, or asks once. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    struct stat status;
    time_t newest = 0;
    double total = 0;
    for (int i = 0; i < 500000; i++) {
        if (!cured || !i) {
            if (stat("settings.txt", &status))
                return 1;
            newest = status.st_mtime;
        }
        total += i * 0.5;
    }
    FILE *stream = fopen("total.txt", "w");
    fprintf(stream, "%.1f\n", total);
    fclose(stream);
    printf("total %.1f %d\n", total, newest > 0);
    return 0;
}
