#include <elf.h>
#include <link.h>
#include <string.h>

#include "../memory/arena.h"
#include "../system/system_call.h"
#include "identity.h"

enum { SECTIONS_MOST = 256, NAMES_BYTES = 8192, COMMENT_BYTES = 4096 };

/* Two parts of an ELF file, each read into pages of its own. */
struct parts {
    ElfW(Shdr) section[SECTIONS_MOST];
    char names[NAMES_BYTES], comment[COMMENT_BYTES];
};

static size_t read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
    long got = system_call(SYS_pread64, fd, to, bytes, offset);
    return got > 0 ? (size_t)got : 0;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Reads the section ".comment" into `parts`, ended by NUL; returns its bytes, 0 without one. */
static size_t read_comment(int fd, struct parts *parts)
{
    ElfW(Ehdr) head;
    if (read_at(fd, &head, sizeof head, 0) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        head.e_shentsize != sizeof *parts->section)
        return 0;
    size_t wanted = least(head.e_shnum, SECTIONS_MOST) * sizeof *parts->section;
    size_t count = read_at(fd, parts->section, wanted, head.e_shoff) / sizeof *parts->section;
    if (head.e_shstrndx >= count)
        return 0;
    const ElfW(Shdr) *table = &parts->section[head.e_shstrndx];
    size_t names = read_at(fd, parts->names, least(table->sh_size, NAMES_BYTES - 1), table->sh_offset);
    for (size_t i = 0; i < count; i++) {
        const ElfW(Shdr) *section = &parts->section[i];
        if (section->sh_name < names && strcmp(parts->names + section->sh_name, ".comment") == 0)
            return read_at(fd, parts->comment, least(section->sh_size, COMMENT_BYTES - 1),
                           section->sh_offset);
    }
    return 0;
}

/* Returns true if a line of `out` equals the text. */
static bool has_line(const char *out, const char *text)
{
    size_t length = strlen(text);
    for (const char *line = out; *line; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") == length && memcmp(line, text, length) == 0)
            return true;
    return false;
}

static char iolens_compilers[COMPILER_BYTES];

const char *compiler_names(void) { return iolens_compilers; }

void compiler_read(void)
{
    char *out = iolens_compilers;
    const size_t size = sizeof iolens_compilers;
    struct parts *parts = pages_alloc(sizeof *parts);
    int fd = parts ? (int)system_call(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY | O_CLOEXEC, 0) : -1;
    size_t used = 0, bytes = fd >= 0 ? read_comment(fd, parts) : 0;
    for (size_t at = 0; at < bytes; at += strlen(parts->comment + at) + 1) {
        const char *entry = parts->comment + at;
        size_t length = strlen(entry);
        if (length == 0 || strchr(entry, '\n') || used + length + 2 > size || has_line(out, entry))
            continue;
        memcpy(out + used, entry, length);
        memcpy(out + used + length, "\n", 2);
        used += length + 1;
    }
    if (fd >= 0)
        system_call(SYS_close, fd);
    if (parts)
        pages_free(parts, sizeof *parts);
}
