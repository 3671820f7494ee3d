/* Fetches the address in the first argument whole and in part, through both interfaces of libcurl, and then
 * as many small parts as the second argument says; if that number is negative, only the small parts. Fetches
 * each further address once. Prints the bytes of all answers. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

static size_t take(char *data, size_t size, size_t count, void *total)
{
    (void)data;
    *(long *)total += (long)(size * count);
    return size * count;
}

static void ask_by_multi(CURL *easy)
{
    CURLM *multi = curl_multi_init();
    int running = 1, left;
    curl_multi_add_handle(multi, easy);
    while (running) {
        curl_multi_perform(multi, &running);
        curl_multi_wait(multi, NULL, 0, 100, NULL);
    }
    while (curl_multi_info_read(multi, &left))
        ;
    curl_multi_remove_handle(multi, easy);
    curl_multi_cleanup(multi);
}

/* Fetches this many separate parts of 10 bytes each, from the last to the first, and then a range that covers
 * all of them. */
static void ask_for_parts(CURL *easy, int parts)
{
    char range[64];
    for (int part = parts; part-- > 0;) {
        snprintf(range, sizeof range, "%d-%d", 100 * part, 100 * part + 9);
        curl_easy_setopt(easy, CURLOPT_RANGE, range);
        curl_easy_perform(easy);
    }
    snprintf(range, sizeof range, "5-%d", 100 * parts);
    curl_easy_setopt(easy, CURLOPT_RANGE, range);
    curl_easy_perform(easy);
}

int main(int count, char **words)
{
    long total = 0;
    CURL *easy = curl_easy_init();
    if (count < 2 || !easy)
        return 1;
    curl_easy_setopt(easy, CURLOPT_URL, words[1]);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &total);
    int parts = count > 2 ? atoi(words[2]) : 0;
    if (parts >= 0) {
        curl_easy_perform(easy);
        curl_easy_setopt(easy, CURLOPT_RANGE, "10-19");
        curl_easy_perform(easy);
        ask_by_multi(easy);
    }
    if (parts != 0)
        ask_for_parts(easy, abs(parts));
    curl_easy_setopt(easy, CURLOPT_RANGE, NULL);
    for (int i = 3; i < count; i++) {
        curl_easy_setopt(easy, CURLOPT_URL, words[i]);
        curl_easy_perform(easy);
    }
    curl_easy_cleanup(easy);
    printf("%ld\n", total);
    return 0;
}
