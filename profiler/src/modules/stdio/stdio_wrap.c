/* The wrapped functions of stdio: the rows of calls/stdio.def, expanded. */

/* The header renames the scanf family to its C99 names; calls/stdio.def has rows for both names. */
#define fscanf   header_fscanf
#define scanf    header_scanf
#define vfscanf  header_vfscanf
#define vscanf   header_vscanf
#define fwscanf  header_fwscanf
#define wscanf   header_wscanf
#define vfwscanf header_vfwscanf
#define vwscanf  header_vwscanf
#include <stdio.h>
#include <wchar.h>
#undef fscanf
#undef scanf
#undef vfscanf
#undef vscanf
#undef fwscanf
#undef wscanf
#undef vfwscanf
#undef vwscanf
#undef fread_unlocked
#undef fwrite_unlocked

#include <string.h>

#define WRAP_SPENDS
#include "calls/libc_types.h"
#include "calls/row.h"
#include "stdio_state.h"

/* The data recorded for each kind of call in calls/stdio.def: FN and its relatives are described in
 * ../runtime/wrap.h. Bytes are those that the call moved between the program and the stream. */

#define ON_FOPEN(...) FN(__VA_ARGS__, stdio_on_fopen(&c, ret, path, open_mode))
#define ON_FREOPEN(...)                                                                                      \
    FNB(__VA_ARGS__, stdio_before_reopen(&c, stream), stdio_on_reopen(&c, ret, path, open_mode))
#define ON_TMPFILE(...) FN(__VA_ARGS__, stdio_on_tmpfile(&c, ret))
#define ON_FDOPEN(...)  FN(__VA_ARGS__, stdio_on_fdopen(&c, ret, fd, open_mode))
#define ON_FCLOSE(...)  FNB(__VA_ARGS__, stdio_before_close(&c, stream), stdio_on_close(&c))
#define ON_FFLUSH(...)                                                                                       \
    FNB(__VA_ARGS__, stdio_before_flush(stream), if (ret == 0) stdio_on_flush(&c, stream);                   \
        else stdio_on_failed_flush(stream))
/* The C library flushes all streams, and keeps them open without buffers. */
#define ON_FCLOSEALL(...)                                                                                    \
    FNB(__VA_ARGS__, stdio_before_flush(NULL), if (ret == 0) stdio_on_flush(&c, NULL);                       \
        else stdio_on_failed_flush(NULL))

#define ON_FWRITE(...)   FN(__VA_ARGS__, stdio_on_items_written(&c, stream, size, items, ret))
#define ON_FPUTC(...)    FN(__VA_ARGS__, if (ret != EOF) stdio_on_write(&c, stream, 1))
#define ON_PUTCHAR(...)  FN(__VA_ARGS__, if (ret != EOF) stdio_on_write(&c, stdout, 1))
#define ON_PUTW(...)     FN(__VA_ARGS__, if (ret != EOF) stdio_on_write(&c, stream, sizeof(int)))
#define ON_FPUTS(...)    FN(__VA_ARGS__, if (ret >= 0) stdio_on_text(&c, stream, (int64_t)strlen(text)))
#define ON_PUTS(...)     FN(__VA_ARGS__, if (ret >= 0) stdio_on_write(&c, stdout, (int64_t)strlen(text) + 1))
#define ON_VFPRINTF(...) FN(__VA_ARGS__, if (ret > 0) stdio_on_write(&c, stream, ret))
#define ON_VPRINTF(...)  FN(__VA_ARGS__, if (ret > 0) stdio_on_write(&c, stdout, ret))
#define ON_FPRINTF(...)  FNV(__VA_ARGS__, (void)0, if (ret > 0) stdio_on_write(&c, stream, ret))
#define ON_PRINTF(...)   FNV(__VA_ARGS__, (void)0, if (ret > 0) stdio_on_write(&c, stdout, ret))

#define ON_FREAD(...)   FN(__VA_ARGS__, stdio_on_items_read(&c, stream, size, items, ret))
#define ON_FGETC(...)   FN(__VA_ARGS__, stdio_on_letter(&c, stream, ret))
#define ON_GETCHAR(...) FN(__VA_ARGS__, stdio_on_letter(&c, stdin, ret))
#define ON_GETW(...)    FN(__VA_ARGS__, stdio_on_word(&c, stream, ret))
#define ON_FGETS(...)   FN(__VA_ARGS__, stdio_on_string(&c, stream, ret, length))
#define ON_GETLINE(...) FN(__VA_ARGS__, stdio_on_line(&c, stream, ret))

#define SCANNING(stream) stdio_before_scan(&c, stream)
#define SCANNED(stream)  stdio_on_scan(&c, stream, ret)
#define ON_VFSCANF(...)  FNB(__VA_ARGS__, SCANNING(stream), SCANNED(stream))
#define ON_VSCANF(...)   FNB(__VA_ARGS__, SCANNING(stdin), SCANNED(stdin))
#define ON_FSCANF(...)   FNV(__VA_ARGS__, SCANNING(stream), SCANNED(stream))
#define ON_SCANF(...)    FNV(__VA_ARGS__, SCANNING(stdin), SCANNED(stdin))

#define ON_FPUTWC(...)                                                                                       \
    FN(__VA_ARGS__, if (ret != WEOF) stdio_on_wide_letter_written(&c, stream, (wint_t)wide))
#define ON_PUTWCHAR(...)                                                                                     \
    FN(__VA_ARGS__, if (ret != WEOF) stdio_on_wide_letter_written(&c, stdout, (wint_t)wide))
#define ON_FPUTWS(...)        FN(__VA_ARGS__, if (ret >= 0) stdio_on_wide_text(&c, stream, wide_text))
#define WIDE_PRINTING(stream) stdio_before_wide_print(&c, stream, wide_format, list)
#define WIDE_PRINTED(stream)  stdio_on_wide_print(&c, stream, ret)
#define ON_VFWPRINTF(...)     FNB(__VA_ARGS__, WIDE_PRINTING(stream), WIDE_PRINTED(stream))
#define ON_VWPRINTF(...)      FNB(__VA_ARGS__, WIDE_PRINTING(stdout), WIDE_PRINTED(stdout))
#define ON_FWPRINTF(...)      FNV(__VA_ARGS__, WIDE_PRINTING(stream), WIDE_PRINTED(stream))
#define ON_WPRINTF(...)       FNV(__VA_ARGS__, WIDE_PRINTING(stdout), WIDE_PRINTED(stdout))
#define ON_FGETWC(...)        FN(__VA_ARGS__, stdio_on_wide_letter_read(&c, stream, ret))
#define ON_GETWCHAR(...)      FN(__VA_ARGS__, stdio_on_wide_letter_read(&c, stdin, ret))
#define ON_FGETWS(...)        FN(__VA_ARGS__, stdio_on_wide_string(&c, stream, ret, length))
#define ON_UNGETWC(...)       FN(__VA_ARGS__, if (ret != WEOF) stdio_on_wide_unget(stream, letter))

#define ON_UNGETC(...)        FN(__VA_ARGS__, if (ret != EOF) stdio_on_unget(stream, 1))
#define ON_REWIND(ret_t, ...) FNZ(__VA_ARGS__, (void)0, stdio_on_seek(&c, stream, 0))
#define ON_FSEEK(...)         FN(__VA_ARGS__, stdio_on_seek(&c, stream, ret))
#define ON_FSETPOS(...)       FN(__VA_ARGS__, stdio_on_seek(&c, stream, ret))

#define WRAP_TABLE "calls/stdio.def"
#include "../../runtime/wrap_expand.h"
