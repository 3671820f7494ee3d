/* Requests that the program makes through libcurl, which HDF5's ros3, netCDF and other readers of object
 * stores use. */
#ifndef IOLENS_HTTP_H
#define IOLENS_HTTP_H

#include <stddef.h>

/* A transfer by the handle `easy` of libcurl that ended with `result`, and two functions of that library:
 * curl_easy_getinfo, and curl_easy_header or NULL. */
struct http_transfer {
    void *easy;
    int result;
    int (*getinfo)(void *easy, int which, ...);
    int (*header)(void *easy, const char *name, size_t index, unsigned origin, int request, void **found);
};

void http_on_done(const struct http_transfer *transfer);

#endif
