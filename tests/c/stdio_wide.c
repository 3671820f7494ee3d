/* Makes every wrapped call on wide characters. The size of the written file gives the expected bytes. */
#include "posix_expect.h"

#include <locale.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <wchar.h>

extern int __fwprintf_chk(FILE *stream, int flag, const wchar_t *format, ...);
extern int __wprintf_chk(int flag, const wchar_t *format, ...);
extern int __vfwprintf_chk(FILE *stream, int flag, const wchar_t *format, va_list list);
extern int __vwprintf_chk(int flag, const wchar_t *format, va_list list);
extern wchar_t *__fgetws_chk(wchar_t *text, size_t room, int size, FILE *stream);
extern wchar_t *__fgetws_unlocked_chk(wchar_t *text, size_t room, int size, FILE *stream);

static int list_print(FILE *stream, int checked, const wchar_t *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = stream ? checked ? __vfwprintf_chk(stream, 1, format, list) : vfwprintf(stream, format, list)
                 : checked ? __vwprintf_chk(1, format, list)
                           : vwprintf(format, list);
    va_end(list);
    return length;
}

static int list_scan(FILE *stream, const wchar_t *format, ...)
{
    va_list list;
    va_start(list, format);
    int got = stream ? vfwscanf(stream, format, list) : vwscanf(format, list);
    va_end(list);
    return got;
}

/* Returns the size of a file, which it asks of the kernel directly, so that no record has the call. */
static long long size_of(const char *path)
{
    struct statx info;
    MUST(syscall(SYS_statx, AT_FDCWD, path, 0, STATX_SIZE, &info) == 0);
    return (long long)info.stx_size;
}

static void expect_written(const char *name, const char *mode)
{
    FILE *f = fopen(name, mode);
    long long before = size_of(name);
    MUST(f && fputwc(L'a', f) == L'a' && fputwc_unlocked(L'\u00e9', f) == 0xe9 &&
         putwc(L'\u20ac', f) == 0x20ac);
    MUST(putwc_unlocked(L'\U0001f600', f) == 0x1f600 && fputws(L"\u20ac1\n", f) >= 0);
    MUST(fputws_unlocked(L"\u00e9\n", f) >= 0 && fwprintf(f, L"%d \u20ac\n", 12345) == 8);
    MUST(__fwprintf_chk(f, 1, L"%ls\n", L"\u00e9\u00e9") == 3 && list_print(f, 0, L"%lc\n", L'\u20ac') == 2);
    MUST(list_print(f, 1, L"\U0001f600 %d\n", 7) == 4 && fclose(f) == 0);
    expect_file(name);
    EXPECT("STDIO_OPENS", 1);
    EXPECT("STDIO_WRITES", 10);
    EXPECT("STDIO_BYTES_WRITTEN", size_of(name) - before);
    EXPECT("STDIO_MAX_BYTE_WRITTEN", size_of(name) - 1);
}

static void expect_read(const char *name)
{
    wchar_t text[64] = {0};
    int number = 0;
    MUST(syscall(SYS_linkat, AT_FDCWD, "wide.dat", AT_FDCWD, name, 0) == 0);
    FILE *f = fopen(name, "r");
    MUST(f && fgetwc(f) == L'a' && fgetwc_unlocked(f) == 0xe9 && getwc(f) == 0x20ac);
    MUST(getwc_unlocked(f) == 0x1f600 && fgetws(text, 64, f) && text[0] == 0x20ac && text[2] == L'\n');
    MUST(ungetwc(L'\n', f) == L'\n' && fgetwc(f) == L'\n' && fgetws_unlocked(text, 64, f));
    MUST(fwscanf(f, L"%d", &number) == 1 && number == 12345 && list_scan(f, L"%ls", text) == 1);
    MUST(fgetwc(f) == L'\n' && __fgetws_chk(text, 64, 64, f) && __fgetws_unlocked_chk(text, 64, 64, f));
    MUST(fgetws(text, 64, f) && text[3] == L'\n' && fgetwc(f) == WEOF && fclose(f) == 0);
    expect_file(name);
    EXPECT("STDIO_OPENS", 1);
    EXPECT("STDIO_READS", 13);
    EXPECT("STDIO_BYTES_READ", size_of(name) + 1);
    EXPECT("STDIO_MAX_BYTE_READ", size_of(name) - 1);
}

/* Prints letters of several bytes to a pipe, which has no position. */
static void expect_standard(void)
{
    int number = 0;
    wchar_t word[16];
    MUST(putwchar(L'#') == L'#' && putwchar_unlocked(L'\n') == L'\n');
    const wchar_t *const format = L"#%5000d \u20ac\n"; /* 5004 letters, one of which has three bytes */
    MUST(wprintf(format, 5) == 5004 && __wprintf_chk(1, format, 5) == 5004);
    MUST(list_print(NULL, 0, L"#\u20ac%d\n", 5) == 4 && list_print(NULL, 1, L"#\u20ac%d\n", 5) == 4 &&
         fflush(stdout) == 0);
    dprintf(1, "FILE <STDOUT>\n");
    EXPECT("STDIO_OPENS", 1);
    EXPECT("STDIO_WRITES", 6);
    EXPECT("STDIO_FLUSHES", 1);
    EXPECT("STDIO_BYTES_WRITTEN", 2 + 2 * 5006 + 2 * 6);
    EXPECT("STDIO_MAX_BYTE_WRITTEN", 2 + 2 * 5006 + 2 * 6 - 1);
    MUST(getwchar() == L'1' && getwchar_unlocked() == L'2'); /* Standard input contains "12345 word". */
    MUST(wscanf(L"%d", &number) == 1 && number == 345 && list_scan(NULL, L"%15ls", word) == 1);
    dprintf(1, "FILE <STDIN>\n");
    EXPECT("STDIO_OPENS", 1);
    EXPECT("STDIO_READS", 4);
    EXPECT("STDIO_BYTES_READ", 10);
    EXPECT("STDIO_MAX_BYTE_READ", 9);
}

int main(void)
{
    MUST(setlocale(LC_CTYPE, "C.UTF-8"));
    expect_written("wide.dat", "w");
    if (fork() == 0) { /* Another process than the one whose log is read makes the file. */
        unsetenv("LD_PRELOAD");
        execlp("truncate", "truncate", "-s", "10", "wide_appended.dat", (char *)NULL);
        _exit(1);
    }
    int status = 1;
    MUST(wait(&status) > 0 && status == 0);
    expect_written("wide_appended.dat", "a");
    expect_read("wide_read.dat");
    expect_standard();
    return 0;
}
