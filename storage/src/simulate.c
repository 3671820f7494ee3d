/* ost-simulate: replays a trace of transfers through the model at chosen settings.
 *
 * The trace is CSV on standard input, `time,client,op,file,offset,bytes` with op r or w, in the order of
 * time. A client's next transfer never begins before its previous one returned. The program prints the time
 * at which everything is on the targets, and the work of each target. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params.h"
#include "sys.h"

#define OBJECTS 4096

struct replay {
    struct ost_params params;
    struct ost_layout layout;
    struct ost_state state;
    struct ost_object objects[OBJECTS];
    double returned[OST_MAX_CLIENTS];
};

static double later(double a, double b) { return a > b ? a : b; }

static struct ost_object *object_of(struct replay *replay, uint64_t file, int target)
{
    uint64_t key = file * OST_MAX_TARGETS + (uint64_t)target + 1;
    for (size_t i = 0; i < OBJECTS; i++) {
        if (replay->objects[i].key == 0)
            replay->objects[i].key = key;
        if (replay->objects[i].key == key)
            return &replay->objects[i];
    }
    return NULL;
}

static int replay_line(struct replay *replay, const char *line)
{
    double time;
    int client;
    char op;
    uint64_t file;
    int64_t offset, bytes;
    int end_of_row = 0;
    if (sscanf(line, "%lf,%d,%c,%" SCNu64 ",%" SCNd64 ",%" SCNd64 "%n", &time, &client, &op, &file, &offset,
               &bytes, &end_of_row) != 6 ||
        line[end_of_row + (int)strspn(line + end_of_row, " \r\n")] != '\0')
        return -1;
    if (!isfinite(time) || time < 0 || client < 0 || client >= OST_MAX_CLIENTS || (op != 'r' && op != 'w') ||
        offset < 0 || bytes < 0 || bytes > INT64_MAX - offset)
        return -1;
    double now = later(time, replay->returned[client]);
    double end = now;
    for (int64_t done = 0; done < bytes;) {
        struct ost_piece piece =
            ost_first_piece(&replay->layout, replay->params.targets, offset + done, bytes - done);
        struct ost_object *object = object_of(replay, file, piece.target);
        if (!object)
            return -1;
        double after = op == 'w' ? ost_write(&replay->params, &replay->state, object, client, &piece, end)
                                 : ost_read(&replay->params, &replay->state, object, client, &piece, now);
        end = later(end, after);
        done += piece.bytes;
    }
    replay->returned[client] = end;
    return 0;
}

static void print(struct replay *replay)
{
    double end = 0;
    for (int client = 0; client < OST_MAX_CLIENTS; client++)
        end = later(end, replay->returned[client]);
    for (size_t i = 0; i < OBJECTS && replay->objects[i].key; i++)
        for (int client = 0; client < OST_MAX_CLIENTS; client++)
            end = ost_flushed(&replay->objects[i], client, end);
    printf("seconds,%.9f\ntarget,bytes,busy_seconds\n", end);
    for (int target = 0; target < replay->params.targets; target++)
        printf("%d,%" PRId64 ",%.9f\n", target, replay->state.targets[target].bytes,
               replay->state.targets[target].busy);
}

/* Makes the layout from three words: stripe count, stripe size and first target. */
static bool read_layout(char *const *words, int targets, struct ost_layout *layout)
{
    int64_t count, size, start;
    if (!whole_number(words[0], 1, targets, &count))
        fprintf(stderr, "ost-simulate: STRIPE_COUNT %s: a number from 1 to %d is needed\n", words[0],
                targets);
    else if (!whole_number(words[1], 1, INT64_MAX, &size))
        fprintf(stderr, "ost-simulate: STRIPE_SIZE %s: a number of bytes above 0 is needed\n", words[1]);
    else if (!whole_number(words[2], 0, targets - 1, &start))
        fprintf(stderr, "ost-simulate: START %s: a target from 0 to %d is needed\n", words[2], targets - 1);
    else {
        *layout = (struct ost_layout){size, (int)count, (int)start};
        return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    static struct replay replay;
    char text[8192], problem[512], line[256];
    if (argc != 5) {
        fprintf(stderr, "usage: ost-simulate CONFIG STRIPE_COUNT STRIPE_SIZE START < trace.csv\n");
        return 2;
    }
    if (sys_slurp(argv[1], text, sizeof text) < 0) {
        perror(argv[1]);
        return 2;
    }
    if (ost_params_parse(text, &replay.params, problem, sizeof problem) != 0) {
        fprintf(stderr, "ost-simulate: %s: %s\n", argv[1], problem);
        return 2;
    }
    ost_begin(&replay.params, &replay.state, 0, 0);
    if (!read_layout(argv + 2, replay.params.targets, &replay.layout))
        return 2;
    for (int number = 1; fgets(line, sizeof line, stdin); number++)
        if (!strstr(line, "time") && replay_line(&replay, line) != 0) {
            fprintf(stderr, "ost-simulate: line %d is not time,client,r|w,file,offset,bytes\n", number);
            return 1;
        }
    print(&replay);
    return 0;
}
