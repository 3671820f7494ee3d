/* The wrappers of libcurl's functions that end a transfer. */
#include <dlfcn.h>

#include "../../runtime/wrap.h"
#include "../../system/library.h"
#include "connections.h"

typedef int perform_function(void *easy);

/* CURLMsg of curl.h. */
struct message {
    int kind; /* Kind of the message: always DONE, the only one that exists. */
    void *easy;
    union {
        void *whatever;
        int result;
    } data;
};
enum { DONE = 1, NO_LIBRARY = 2 /* CURLE_FAILED_INIT */ };

typedef struct message *info_read_function(void *multi, int *left);

IOLENS_EXPORT perform_function curl_easy_perform;
IOLENS_EXPORT info_read_function curl_multi_info_read;

static bool are_of_same_library(const void *one, const void *other)
{
    Dl_info first, second;
    return dladdr(one, &first) && dladdr(other, &second) && first.dli_fbase == second.dli_fbase;
}

/* Returns the function `name` of the libcurl that the caller is linked with: a process may hold several,
 * such as the system's and one from a Python package. */
static void *of_caller(const char *name, const void *caller)
{
    Dl_info object;
    void *handle = dladdr(caller, &object) ? library_loaded(object.dli_fname) : NULL;
    void *found = handle ? dlsym(handle, name) : NULL;
    if (handle)
        library_close(handle);
    return found && !are_of_same_library(found, (void *)of_caller) ? found : library_symbol("libcurl", name);
}

static void record(void *easy, int result, const void *caller)
{
    struct http_transfer transfer = {.easy = easy, .result = result};
    *(void **)&transfer.getinfo = of_caller("curl_easy_getinfo", caller);
    *(void **)&transfer.header = of_caller("curl_easy_header", caller);
    if (transfer.getinfo)
        http_on_done(&transfer);
}

int curl_easy_perform(void *easy)
{
    const void *caller = __builtin_return_address(0);
    perform_function *real = of_caller("curl_easy_perform", caller);
    int result = real ? real(easy) : NO_LIBRARY;
    if (real && iolens_active())
        RECORDER(record(easy, result, caller));
    return result;
}

struct message *curl_multi_info_read(void *multi, int *left)
{
    const void *caller = __builtin_return_address(0);
    info_read_function *real = of_caller("curl_multi_info_read", caller);
    struct message *message = real ? real(multi, left) : NULL;
    /* curl_easy_perform calls this function as well to end its transfer; the wrapper of curl_easy_perform
       counts that transfer. */
    if (message && message->kind == DONE && iolens_active() && !are_of_same_library(caller, (void *)real))
        RECORDER(record(message->easy, message->data.result, caller));
    return message;
}
