#include <math.h>
#include <stdlib.h>

#include "json.h"
#include "run.h"

/* Compares the norms with the reference and prints the result; without a reference, only prints the norms.
 * Returns true if all values are near the reference. */
static bool compare(const Run *run, const char *title, const double norm[COMPONENTS],
                    const double reference[COMPONENTS])
{
    bool good = true;
    run_say(run, reference != NULL ? " Comparison of RMS-norms of %s" : " RMS-norms of %s", title);
    for (int m = 0; m < COMPONENTS; m++) {
        char value[40], expected[40], difference[40];
        exponent_form(norm[m], 13, value);
        if (reference == NULL) {
            run_say(run, "%12d%20s", m + 1, value);
            continue;
        }
        double relative = fabs((norm[m] - reference[m]) / reference[m]);
        bool near = relative <= VERIFY_EPSILON;
        exponent_form(reference[m], 13, expected);
        exponent_form(relative, 13, difference);
        run_say(run, "%s%2d%20s%20s%20s", near ? "          " : " FAILURE: ", m + 1, value, expected,
                difference);
        good = good && near;
    }
    return good;
}

/* Returns the NPB class whose published norms apply to this run; if there is none, prints the reason and
 * returns NULL. */
static const Class *published_class(const Run *run)
{
    const Config *config = run->config;
    const Class *class = class_like(config->grid, config->steps);
    char text[40];
    if (class == NULL) {
        run_say(run, " Unknown class");
        return NULL;
    }
    run_say(run, " Verification being performed for class %c", class->letter);
    exponent_form(VERIFY_EPSILON, 13, text);
    run_say(run, " accuracy setting for epsilon = %20s", text);
    if (fabs(config->dt - class->dt) <= VERIFY_EPSILON)
        return class;
    exponent_form(class->dt, 8, text);
    run_say(run, " DT does not match the reference value of %15s", text);
    return NULL;
}

/* Returns the verdict of a run in which every value of every dump was compared with what had been written. */
static Verdict verify_values(const Run *run)
{
    Verdict verdict = {.status = VERIFY_SUCCESSFUL};
    if (run->config->write_only)
        return (Verdict){.status = VERIFY_NOT_PERFORMED,
                         .detail = "the data was not read back, as --write-only asks"};
    run_say(run, " Verification being performed on every value of %d dumps", run->read);
    if (run->wrong_values > 0) {
        verdict.status = VERIFY_UNSUCCESSFUL;
        snprintf(verdict.detail, sizeof verdict.detail,
                 "%lld values differ from the written ones, first in dump %d", run->wrong_values,
                 run->wrong_dump);
    }
    return verdict;
}

static void memory_mean(const Run *run, double mean[COMPONENTS])
{
    for (int m = 0; m < COMPONENTS; m++) {
        mean[m] = 0.0;
        for (int d = 0; d < run->dumps; d++)
            mean[m] += run->memory[d][m] / run->dumps;
    }
}

static void final_norms(Run *run, double residual[COMPONENTS], double error[COMPONENTS])
{
    exchange_ghosts(&run->exchange, &run->domain);
    compute_rhs(&run->domain, run->config->dt);
    interior_norm(&run->domain, rhs_of, run->config->dt, residual);
    if (!run_has_io(run))
        error_norm(&run->domain, &run->exact, error);
    else
        for (int m = 0; m < COMPONENTS; m++)
            error[m] = run->error_sum[m] / run->read;
}

static const double *error_reference(const Run *run, const Class *class, const double memory[COMPONENTS])
{
    if (run->memory != NULL)
        return memory;
    if (class == NULL)
        return NULL;
    if (!run_has_io(run))
        return class->error;
    bool holds = class->has_dump_error && run->config->write_interval == PUBLISHED_WRITE_INTERVAL;
    return holds ? class->dump_error : NULL;
}

static Verdict judge(const Run *run, const Class *class, bool good)
{
    Verdict verdict = {.status = good ? VERIFY_SUCCESSFUL : VERIFY_UNSUCCESSFUL};
    const char *where = class == NULL ? "no published reference for this grid, step count and dt"
                                      : "no published error norms for this write interval";
    if (run->wrong_dump > 0) {
        verdict.status = VERIFY_UNSUCCESSFUL;
        snprintf(verdict.detail, sizeof verdict.detail, "dump %d differs from the data that was written",
                 run->wrong_dump);
    } else if (run->memory != NULL) {
        snprintf(verdict.detail, sizeof verdict.detail,
                 "%s; the dumps were compared with the norms in memory", where);
    } else if (class == NULL) {
        verdict.status = VERIFY_NOT_PERFORMED;
        snprintf(verdict.detail, sizeof verdict.detail, "%s", where);
    } else if (run_has_io(run) && error_reference(run, class, NULL) == NULL) {
        snprintf(verdict.detail, sizeof verdict.detail, "%s; only the last dump was compared", where);
    }
    return verdict;
}

static Verdict verify_norms(Run *run)
{
    double memory[COMPONENTS];
    Answer answer = {.known = true};
    double *residual = answer.residual, *error = answer.error;
    final_norms(run, residual, error);
    const Class *class = published_class(run);
    if (run->memory != NULL)
        memory_mean(run, memory);
    bool finite = true;
    for (int m = 0; m < COMPONENTS; m++)
        finite = finite && is_finite(residual[m]) && is_finite(error[m]);
    bool good = compare(run, "residual", residual, class != NULL ? class->residual : NULL);
    good &= compare(run, "solution error", error, error_reference(run, class, memory));
    Verdict verdict = judge(run, class, good);
    verdict.answer = answer;
    if (!finite) {
        verdict.status = VERIFY_UNSUCCESSFUL;
        strcpy(verdict.detail, "the solution is not finite; give a smaller time step (--dt)");
    }
    return verdict;
}

Verdict verify(Run *run)
{
    Verdict verdict = run->config->io_only ? verify_values(run) : verify_norms(run);
    if (verdict.detail[0] != '\0')
        run_say(run, " Note: %s", verdict.detail);
    if (verdict.status == VERIFY_NOT_PERFORMED)
        run_say(run, "%s No verification performed",
                run->config->write_only ? "" : " No reference values provided\n");
    else
        run_say(run,
                verdict.status == VERIFY_SUCCESSFUL ? " Verification Successful" : " Verification failed");
    return verdict;
}

enum { MOST_DIGITS = 17 };

void exponent_form(double value, int digits, char text[40])
{
    char c_form[48], mantissa[MOST_DIGITS + 1];
    if (!is_finite(value)) {
        strcpy(text, is_nan(value) ? "NaN" : value > 0.0 ? "Infinity" : "-Infinity");
        return;
    }
    snprintf(c_form, sizeof c_form, "%.*e", digits - 1, fabs(value));
    const char *mark = strchr(c_form, 'e');
    int exponent = value == 0.0 ? 0 : atoi(mark + 1) + 1;
    mantissa[0] = c_form[0];
    memcpy(mantissa + 1, c_form + 2, (size_t)digits - 1);
    mantissa[digits] = '\0';
    snprintf(text, 40, "%s0.%sE%+03d", value < 0.0 ? "-" : "", mantissa, exponent);
}
