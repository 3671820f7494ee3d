/* Requests that the program makes through libcurl, which HDF5's ros3, netCDF and other readers of object
 * stores use. */
#ifndef IOLENS_HTTP_H
#define IOLENS_HTTP_H

/* Counts a transfer by the handle `easy` of libcurl that has ended. `getinfo` is this library's
 * curl_easy_getinfo. */
void http_on_done(void *easy, int (*getinfo)(void *, int, ...), int result);

#endif
