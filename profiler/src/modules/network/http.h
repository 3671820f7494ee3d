/* Requests that the program makes through libcurl, which HDF5's ros3, netCDF and other readers of object
 * stores use. */
#ifndef IOLENS_HTTP_H
#define IOLENS_HTTP_H

#include <stddef.h>

/* A transfer that ended with `result`: its handle `easy` of libcurl, and that library's functions
 * curl_easy_getinfo and curl_easy_header (which may be NULL). */
struct http_transfer {
    void *easy;
    int result;
    int (*getinfo)(void *easy, int which, ...);
    int (*header)(void *easy, const char *name, size_t index, unsigned origin, int request, void **found);
};

void http_on_done(const struct http_transfer *transfer);

#endif
