/* Writing one JSON value to a stream, on one line. Keys are NULL inside arrays and for the outermost value.
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stdbool.h>
#include <stdio.h>

typedef struct Json {
    FILE *out;
    bool begun; /* something stands before, in the innermost open bracket */
} Json;

void json_open(Json *json, const char *key, char bracket);      /* '{' or '[' */
void json_close(Json *json, char bracket);                      /* '}' or ']' */
void json_text(Json *json, const char *key, const char *value); /* NULL becomes null */
void json_integer(Json *json, const char *key, long long value);
void json_real(Json *json, const char *key, double value); /* what is not finite becomes null */
void json_truth(Json *json, const char *key, bool value);
void json_null(Json *json, const char *key);

#endif
