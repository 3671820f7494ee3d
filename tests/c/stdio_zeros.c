/* Reads lines that hold zero bytes with fgets and fgetws. All lines of a file are read, so the expected bytes
 * are its size, and the expected reads are the calls that returned a text. */
#include "posix_expect.h"

#include <locale.h>
#include <wchar.h>

extern char *__fgets_chk(char *text, size_t room, int size, FILE *stream);
extern char *__fgets_unlocked_chk(char *text, size_t room, int size, FILE *stream);
extern wchar_t *__fgetws_chk(wchar_t *text, size_t room, int size, FILE *stream);
extern wchar_t *__fgetws_unlocked_chk(wchar_t *text, size_t room, int size, FILE *stream);

/* Lines with a zero in the middle, at the begin, at the end, alone, in pairs, and at the end of the file. One
 * line is longer than the room, and its zero is the last byte that fits; another line has a letter of two
 * bytes in UTF-8. */
static const char lines[] = "a\0b\n\0c\nde\0\n\0\n\0\0\xc3\xa9\n123456\0007\nf";

enum { ROOM = 8, SIZE = sizeof lines - 1 };

static FILE *file_of_lines(const char *name)
{
    FILE *f = fopen(name, "w");
    MUST(f && fwrite(lines, 1, SIZE, f) == SIZE && fclose(f) == 0 && (f = fopen(name, "r")));
    return f;
}

static void expect_all_read(FILE *f, const char *name, int reads)
{
    MUST(feof(f) && fclose(f) == 0);
    expect_file(name);
    EXPECT("STDIO_OPENS", 2);
    EXPECT("STDIO_WRITES", 1);
    EXPECT("STDIO_BYTES_WRITTEN", SIZE);
    EXPECT("STDIO_MAX_BYTE_WRITTEN", SIZE - 1);
    EXPECT("STDIO_READS", reads);
    EXPECT("STDIO_BYTES_READ", SIZE);
    EXPECT("STDIO_MAX_BYTE_READ", SIZE - 1);
}

static void read_bytes(const char *name, char *(*get)(char *, int, FILE *))
{
    char text[ROOM + 1];
    FILE *f = file_of_lines(name);
    int reads = 0;
    for (memset(text, '\n', sizeof text); get(text, ROOM, f); memset(text, '\n', sizeof text))
        reads++;
    expect_all_read(f, name, reads);
}

static void read_wide(const char *name, wchar_t *(*get)(wchar_t *, int, FILE *))
{
    wchar_t text[ROOM + 1];
    FILE *f = file_of_lines(name);
    int reads = 0;
    for (wmemset(text, L'\n', ROOM + 1); get(text, ROOM, f); wmemset(text, L'\n', ROOM + 1))
        reads++;
    expect_all_read(f, name, reads);
}

static char *checked(char *text, int room, FILE *f) { return __fgets_chk(text, ROOM + 1, room, f); }
static char *unlocked(char *text, int room, FILE *f) { return __fgets_unlocked_chk(text, ROOM + 1, room, f); }
static wchar_t *wide(wchar_t *text, int room, FILE *f) { return __fgetws_chk(text, ROOM + 1, room, f); }
static wchar_t *wide_unlocked(wchar_t *text, int room, FILE *f)
{
    return __fgetws_unlocked_chk(text, ROOM + 1, room, f);
}

int main(void)
{
    MUST(setlocale(LC_ALL, "C.UTF-8"));
    read_bytes("fgets.txt", fgets);
    read_bytes("fgets_unlocked.txt", fgets_unlocked);
    read_bytes("fgets_chk.txt", checked);
    read_bytes("fgets_unlocked_chk.txt", unlocked);
    read_wide("fgetws.txt", fgetws);
    read_wide("fgetws_unlocked.txt", fgetws_unlocked);
    read_wide("fgetws_chk.txt", wide);
    read_wide("fgetws_unlocked_chk.txt", wide_unlocked);
    return 0;
}
