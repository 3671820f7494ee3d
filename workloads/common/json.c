#include "json.h"

static void put_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

static void begin(Json *json, const char *key)
{
    if (json->begun)
        fputs(", ", json->out);
    json->begun = true;
    if (key != NULL) {
        put_string(json->out, key);
        fputs(": ", json->out);
    }
}

void json_open(Json *json, const char *key, char bracket)
{
    begin(json, key);
    fputc(bracket, json->out);
    json->begun = false;
}

void json_close(Json *json, char bracket)
{
    fputc(bracket, json->out);
    json->begun = true;
}

void json_text(Json *json, const char *key, const char *value)
{
    if (value == NULL) {
        json_null(json, key);
        return;
    }
    begin(json, key);
    put_string(json->out, value);
}

void json_integer(Json *json, const char *key, long long value)
{
    begin(json, key);
    fprintf(json->out, "%lld", value);
}

void json_real(Json *json, const char *key, double value)
{
    if (!is_finite(value)) {
        json_null(json, key);
        return;
    }
    begin(json, key);
    fprintf(json->out, "%.17g", value);
}

void json_truth(Json *json, const char *key, bool value)
{
    begin(json, key);
    fputs(value ? "true" : "false", json->out);
}

void json_null(Json *json, const char *key)
{
    begin(json, key);
    fputs("null", json->out);
}
