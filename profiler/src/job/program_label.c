#include <stdio.h>
#include <string.h>

#include "identity.h"

static const char *const INTERPRETERS[] = {"python",  "pypy",  "perl", "ruby", "node",
                                           "Rscript", "julia", "lua",  "bash", "dash",
                                           "sh",      "zsh",   "ksh",  "csh",  "tcsh"};

/* Returns true for an interpreter, with or without a version behind its name. */
static bool is_interpreter(const char *program)
{
    for (size_t i = 0; i < sizeof INTERPRETERS / sizeof *INTERPRETERS; i++) {
        size_t length = strlen(INTERPRETERS[i]);
        const char *version = program + length;
        if (strncmp(program, INTERPRETERS[i], length) == 0 && version[strspn(version, "0123456789.")] == '\0')
            return true;
    }
    return false;
}

struct word {
    const char *at;
    int length;
};

/* Returns the next word of a command line; its length is 0 at the end. */
static struct word next(struct word word)
{
    const char *at = word.at + word.length;
    at += strspn(at, " ");
    return (struct word){at, (int)strcspn(at, " \n")};
}

static bool is(struct word word, const char *option)
{
    return (size_t)word.length == strlen(option) && strncmp(word.at, option, strlen(option)) == 0;
}

static struct word without_folder(struct word path)
{
    int begin = path.length;
    while (begin > 0 && path.at[begin - 1] != '/')
        begin--;
    return (struct word){path.at + begin, path.length - begin};
}

void program_label(const struct identity *identity, char label[PROGRAM_BYTES])
{
    const char *option = "";
    snprintf(label, PROGRAM_BYTES, "%s", identity->program);
    if (!is_interpreter(label))
        return;
    struct word word = next((struct word){identity->command, (int)strcspn(identity->command, " \n")});
    for (; word.length > 0 && *word.at == '-'; word = next(word)) {
        if (is(word, "-c") || is(word, "-e"))
            break;
        if (is(word, "-W") || is(word, "-X")) /* The next word is the value of these two options of Python. */
            word = next(word);
        if (!is(word, "-m"))
            continue;
        /* The module mpi4py runs the script that follows it. */
        if (strncmp(next(word).at, "mpi4py", 6) == 0) {
            word = next(word);
            continue;
        }
        option = "-m ";
        word = next(word);
        break;
    }
    if (word.length > 0) {
        struct word name = without_folder(word);
        snprintf(label, PROGRAM_BYTES, "%s %s%.*s", identity->program, option, name.length, name.at);
    }
}
