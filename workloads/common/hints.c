#include "hints.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* Returns the bytes if `text` consists of digits and a binary unit (k, M, G, with or without iB or B), else
 * -1. */
static long long size_with_unit(const char *text)
{
    static const char units[] = "kMG";
    char *end;
    long long number = strtoll(text, &end, 10);
    char letter = *end == 'K' ? 'k' : *end;
    const char *unit = letter != '\0' ? strchr(units, letter) : NULL;
    bool whole = unit != NULL && (end[1] == '\0' || strcmp(end + 1, "iB") == 0 || strcmp(end + 1, "B") == 0);
    if (!isdigit((unsigned char)text[0]) || !whole || number >= 1LL << 32)
        return -1;
    return number << (10 * (unit - units + 1));
}

void hints_put(Hints *hints, const char *key, const char *value, Trouble *trouble)
{
    if (hints->list == NULL)
        hints->list = allocate(HINTS_MAX, sizeof *hints->list);
    int at = 0;
    while (at < hints->count && strcmp(hints->list[at].key, key) != 0)
        at++;
    if (at == HINTS_MAX || strlen(key) >= MPI_MAX_INFO_KEY || strlen(value) >= MPI_MAX_INFO_VAL) {
        trouble_note(trouble, "hint %s=%s: too long, or more than %d hints", key, value, HINTS_MAX);
        return;
    }
    strcpy(hints->list[at].key, key);
    long long bytes = size_with_unit(value);
    if (bytes >= 0)
        snprintf(hints->list[at].value, sizeof hints->list[at].value, "%lld", bytes);
    else
        strcpy(hints->list[at].value, value);
    if (at == hints->count)
        hints->count++;
}

/* Cuts `text` at the first of `separators` into key and value, and adds them without the blanks around them.
 */
static void split(Hints *hints, char *text, const char *separators, const char *where, Trouble *trouble)
{
    text += strspn(text, " \t");
    size_t length = strcspn(text, separators);
    char *value = text + length;
    if (*value != '\0')
        *value++ = '\0';
    value += strspn(value, " \t=");
    for (char *end = value + strlen(value); end > value && isspace((unsigned char)end[-1]);)
        *--end = '\0';
    for (char *end = text + strlen(text); end > text && isspace((unsigned char)end[-1]);)
        *--end = '\0';
    if (*text == '\0' || *value == '\0')
        trouble_note(trouble, "%s: '%s' is not a hint like cb_nodes=4", where, text);
    else
        hints_put(hints, text, value, trouble);
}

void hints_add(Hints *hints, const char *text, Trouble *trouble)
{
    char *copy = strdup(text);
    split(hints, copy, "=", "--hint", trouble);
    free(copy);
}

void hints_read(Hints *hints, const char *path, Trouble *trouble)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        trouble_note(trouble, "cannot read the hints file %s: %s", path, strerror(errno));
        return;
    }
    char *line = NULL;
    size_t room = 0;
    for (int number = 1; getline(&line, &room, file) >= 0 && !trouble->any; number++) {
        char where[512];
        snprintf(where, sizeof where, "%s, line %d", path, number);
        line[strcspn(line, "#\r\n")] = '\0';
        if (line[strspn(line, " \t")] != '\0')
            split(hints, line, "= \t", where, trouble);
    }
    free(line);
    fclose(file);
}

void hints_put_all(Hints *hints, const Hints *more, Trouble *trouble)
{
    for (int i = 0; i < more->count; i++)
        hints_put(hints, more->list[i].key, more->list[i].value, trouble);
}

void hints_read_below(Hints *hints, const char *path, Trouble *trouble)
{
    Hints given = *hints;
    *hints = (Hints){0};
    hints_read(hints, path, trouble);
    hints_put_all(hints, &given, trouble);
}

MPI_Info hints_info(const Hints *hints)
{
    MPI_Info info = MPI_INFO_NULL;
    if (hints->count > 0)
        MPI_Info_create(&info);
    for (int i = 0; i < hints->count; i++)
        MPI_Info_set(info, hints->list[i].key, hints->list[i].value);
    return info;
}

void hints_of_info(Hints *hints, MPI_Info info)
{
    int count = 0;
    MPI_Info_get_nkeys(info, &count);
    for (int i = 0; i < count; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1] = "";
        int found;
        Trouble ignored = {0};
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
        if (found)
            hints_put(hints, key, value, &ignored);
    }
}

void hints_of_file(Hints *hints, MPI_File file)
{
    MPI_Info info;
    if (MPI_File_get_info(file, &info) != MPI_SUCCESS || info == MPI_INFO_NULL)
        return;
    hints_of_info(hints, info);
    MPI_Info_free(&info);
}

void hints_json(const Hints *hints, const char *key, Json *json)
{
    json_open(json, key, '{');
    for (int i = 0; i < hints->count; i++)
        json_text(json, hints->list[i].key, hints->list[i].value);
    json_close(json, '}');
}
