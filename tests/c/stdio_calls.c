/* Makes every wrapped call on streams. */
#include "posix_expect.h"

#include <stdarg.h>

extern int _IO_putc(int byte, FILE *stream);
extern int _IO_getc(FILE *stream);
extern int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
extern int __printf_chk(int flag, const char *format, ...);
extern int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list list);
extern int __vprintf_chk(int flag, const char *format, va_list list);
extern size_t __fread_chk(void *memory, size_t room, size_t size, size_t count, FILE *stream);
extern size_t __fread_unlocked_chk(void *memory, size_t room, size_t size, size_t count, FILE *stream);
extern char *__fgets_chk(char *text, size_t room, int size, FILE *stream);
extern char *__fgets_unlocked_chk(char *text, size_t room, int size, FILE *stream);
extern ssize_t __getdelim(char **text, size_t *size, int end, FILE *stream);

static int list_fprintf(FILE *stream, int checked, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = checked ? __vfprintf_chk(stream, 1, format, list) : vfprintf(stream, format, list);
    va_end(list);
    return length;
}

static int list_printf(int checked, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = checked ? __vprintf_chk(1, format, list) : vprintf(format, list);
    va_end(list);
    return length;
}

static int list_scan(int on_stdin, FILE *stream, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int got = on_stdin ? vscanf(format, list) : vfscanf(stream, format, list);
    va_end(list);
    return got;
}

static void writing(void)
{
    FILE *f = fopen("write.dat", "w");
    MUST(f && fwrite("0123456789", 2, 5, f) == 5 && fwrite_unlocked("0123456789", 5, 2, f) == 2);
    MUST(fputc('a', f) == 'a' && fputc_unlocked('b', f) == 'b' && putc('c', f) == 'c');
    MUST(putc_unlocked('d', f) == 'd' && _IO_putc('e', f) == 'e' && putw(1, f) == 0);
    MUST(fputs("text", f) >= 0 && fputs_unlocked("text", f) >= 0 && fputs("", f) >= 0);
    MUST(fprintf(f, "%d", 12345) == 5 && list_fprintf(f, 0, "%d", 12345) == 5);
    MUST(__fprintf_chk(f, 1, "%d", 12345) == 5 && list_fprintf(f, 1, "%d", 12345) == 5);
    MUST(fflush(f) == 0 && fflush_unlocked(f) == 0 && fflush(NULL) == 0);
    MUST(fseek(f, 0, SEEK_SET) == 0 && fclose(f) == 0);
    expect_file("write.dat");
    EXPECT("STDIO_OPENS", 1);
    EXPECT("STDIO_WRITES", 15);
    EXPECT("STDIO_FLUSHES", 2);
    EXPECT("STDIO_SEEKS", 1);
    EXPECT("STDIO_BYTES_WRITTEN", 20 + 5 + 4 + 8 + 20);
    EXPECT("STDIO_MAX_BYTE_WRITTEN", 56);
}

static void reading(void)
{
    char memory[16], *line = NULL;
    size_t size = 0;
    int number;
    FILE *f = fopen64("read.txt", "w");
    for (int i = 0; i < 20; i++)
        MUST(fputs("123 abcde\n", f) >= 0);
    MUST(fclose(f) == 0 && (f = fopen("read.txt", "r")));
    MUST(fread(memory, 5, 2, f) == 2 && fread_unlocked(memory, 1, 10, f) == 10);
    MUST(__fread_chk(memory, 16, 1, 10, f) == 10 && __fread_unlocked_chk(memory, 16, 1, 10, f) == 10);
    MUST(fgetc(f) == '1' && ungetc('1', f) == '1' && fgetc(f) == '1'); /* Reads the same byte twice. */
    MUST(fgetc_unlocked(f) == '2' && getc(f) == '3' && getc_unlocked(f) == ' ');
    /* These calls read "bcde" and the end of the line. */
    MUST(_IO_getc(f) == 'a' && getw(f) != EOF && fgets(memory, 16, f));
    MUST(fgets(memory, 16, f) && fgets_unlocked(memory, 16, f));
    MUST(__fgets_chk(memory, 16, 16, f) && __fgets_unlocked_chk(memory, 16, 16, f));
    MUST(getline(&line, &size, f) == 10 && getdelim(&line, &size, ' ', f) == 4);
    MUST(__getdelim(&line, &size, '\n', f) == 6);
    MUST(fscanf(f, "%d", &number) == 1 && list_scan(0, f, "%15s", memory) == 1);
    MUST(fseek(f, 0, SEEK_END) == 0 && fgetc(f) == EOF && fclose(f) == 0);
    free(line);
    expect_file("read.txt");
    EXPECT("STDIO_OPENS", 2);
    EXPECT("STDIO_WRITES", 20);
    EXPECT("STDIO_BYTES_WRITTEN", 200);
    EXPECT("STDIO_MAX_BYTE_WRITTEN", 199);
    EXPECT("STDIO_READS", 4 + 6 + 2 + 4 + 3 + 2);
    /* The sum is 40 + 11 + 40 + 20, then the lengths of "123" and " abcde". */
    EXPECT("STDIO_BYTES_READ", 120);
    EXPECT("STDIO_MAX_BYTE_READ", 118);
    EXPECT("STDIO_SEEKS", 1);
}

static void positions(void)
{
    fpos_t at;
    fpos64_t at64;
    FILE *f = fopen("position.dat", "w+");
    MUST(fgetpos(f, &at) == 0 && fgetpos64(f, &at64) == 0);
    MUST(fseek(f, 1000, SEEK_SET) == 0 && fseeko(f, 1000, SEEK_CUR) == 0 && fseeko64(f, 1000, SEEK_CUR) == 0);
    MUST(fputc('x', f) == 'x');
    rewind(f);
    MUST(fsetpos(f, &at) == 0 && fsetpos64(f, &at64) == 0);
    MUST(fputc('y', f) == 'y' && fclose(f) == 0);
    expect_file("position.dat");
    EXPECT("STDIO_OPENS", 1);
    EXPECT("STDIO_SEEKS", 6);
    EXPECT("STDIO_WRITES", 2);
    EXPECT("STDIO_BYTES_WRITTEN", 2);
    EXPECT("STDIO_MAX_BYTE_WRITTEN", 3000);
}

/* Uses a stream on a descriptor, a descriptor of a stream, a stream that is reopened on another file, and a
 * stream that appends. */
static void crossings(void)
{
    int fd = open("cross.dat", O_CREAT | O_RDWR, 0600);
    FILE *f = fdopen(fd, "w");
    MUST(f && fputs("12345", f) >= 0 && fclose(f) == 0);
    int again = open("/dev/null", O_WRONLY); /* Another file now has the number of the closed descriptor. */
    MUST(again == fd && write(again, "no", 2) == 2 && close(again) == 0);
    f = fopen("cross.dat", "a");
    MUST(f && fputs("67", f) >= 0 && fileno(f) >= 0 && fileno(f) >= 0);
    MUST((f = freopen("other.dat", "w", f)) && fputs("abc", f) >= 0);
    MUST((f = freopen64("other.dat", "a", f)) && fputs("def", f) >= 0 && fclose(f) == 0);
    expect_posix_file("cross.dat");
    EXPECT("POSIX_OPENS", 3);
    EXPECT("POSIX_FILENOS", 2);
    EXPECT("POSIX_MODE", 0600);
    EXPECT("STDIO_OPENS", 2);
    EXPECT("STDIO_FDOPENS", 1);
    EXPECT("STDIO_WRITES", 2);
    EXPECT("STDIO_BYTES_WRITTEN", 7);
    EXPECT("STDIO_MAX_BYTE_WRITTEN", 6);
    expect_file("other.dat");
    EXPECT("STDIO_OPENS", 2);
    EXPECT("STDIO_WRITES", 2);
    EXPECT("STDIO_BYTES_WRITTEN", 6);
    EXPECT("STDIO_MAX_BYTE_WRITTEN", 5);
}

/* Appends bytes, which go to the end that the file has when they are flushed: by fflush(NULL), or by exit. */
static void appending(void)
{
    FILE *f = fopen("appended.dat", "a"), *other;
    MUST(f && fputs("123", f) >= 0 && truncate("appended.dat", 100) == 0 && fflush(NULL) == 0);
    MUST((other = fopen("appended.dat", "w")) && fclose(other) == 0 && fputs("1", f) >= 0);
    expect_file("appended.dat");
    EXPECT("STDIO_OPENS", 2);
    EXPECT("STDIO_WRITES", 2);
    EXPECT("STDIO_BYTES_WRITTEN", 4);
    EXPECT("STDIO_MAX_BYTE_WRITTEN", 102);
    f = fopen("left_open.dat", "a");
    MUST(f && fputs("123", f) >= 0 && truncate("left_open.dat", 50) == 0);
    expect_file("left_open.dat");
    EXPECT("STDIO_OPENS", 1);
    EXPECT("STDIO_WRITES", 1);
    EXPECT("STDIO_BYTES_WRITTEN", 3);
    EXPECT("STDIO_MAX_BYTE_WRITTEN", 52);
}

/* Uses standard output and input, which the harness has redirected to files. */
static void standard(void)
{
    int number = 0;
    char word[16];
    MUST(puts("# 34") >= 0 && putchar('#') == '#' && putchar_unlocked('\n') == '\n');
    MUST(printf("#%d\n", 5) == 3 && list_printf(0, "#%d\n", 5) == 3);
    MUST(__printf_chk(1, "#%d\n", 5) == 3 && list_printf(1, "#%d\n", 5) == 3 && fflush(stdout) == 0);
    dprintf(1, "FILE <STDOUT>\n");
    EXPECT("STDIO_OPENS", 1);
    EXPECT("STDIO_WRITES", 7);
    EXPECT("STDIO_FLUSHES", 1);
    EXPECT("STDIO_BYTES_WRITTEN", 5 + 2 + 12);
    EXPECT("STDIO_MAX_BYTE_WRITTEN", 18);
    MUST(getchar() == '1' && getchar_unlocked() == '2'); /* Standard input contains "12345 word". */
    MUST(scanf("%d", &number) == 1 && number == 345 && list_scan(1, NULL, "%15s", word) == 1);
    dprintf(1, "FILE <STDIN>\n");
    EXPECT("STDIO_OPENS", 1);
    EXPECT("STDIO_READS", 4);
    EXPECT("STDIO_BYTES_READ", 10);
    EXPECT("STDIO_MAX_BYTE_READ", 9);
}

int main(void)
{
    writing();
    reading();
    positions();
    crossings();
    appending();
    standard();
    return 0;
}
