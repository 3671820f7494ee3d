/* Looks for the newest file: lists the folder for each step, or once. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    char last[256] = "";
    long entries = 0, seen = 0;
    for (int step = 0; step < 700; step++) {
        if (!cured || !step) {
            DIR *folder = opendir("items");
            struct dirent *entry;
            if (!folder)
                return 1;
            seen = 0;
            while ((entry = readdir(folder)))
                if (entry->d_name[0] != '.') {
                    seen++;
                    if (strcmp(entry->d_name, last) > 0)
                        strcpy(last, entry->d_name);
                }
            closedir(folder);
        }
        entries += seen;
    }
    printf("entries %ld last %s\n", entries, last);
    return 0;
}
