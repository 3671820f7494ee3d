/* Calls the functions of traced_blas_library.c and prints what they return. */
#include <complex.h>
#include <fcntl.h>
#include <stdio.h>
void dgemm_(const char *, const char *, int *, int *, int *, double *, double *, int *, double *, int *,
            double *, double *, int *, long, long);
double ddot_(int *, double *, int *, double *, int *);
float sdot_(int *, float *, int *, float *, int *);
double complex zdotc_(int *, double complex *, int *, double complex *, int *);
void cblas_dgemm(int, int, int, int, int, int, double, double *, int, double *, int, double, double *, int),
    dgesv_(int *);
double scipy_cblas_ddot64_(long, const double *, long, const double *, long);
int main(void)
{
    int i = 3;
    double x = 1.5, c, d;
    float f = 2.5f;
    double complex z = 1 + 2 * I;
    open("blas.txt", O_CREAT | O_WRONLY, 0600);
    for (int turn = 0; turn < 10; turn++) {
        dgemm_("N", "T", &i, &i, &i, &x, &x, &i, &x, &i, &x, &c, &i, 1, 1);
        cblas_dgemm(101, 111, 112, 2, 3, 4, 0.5, &x, 5, &x, 6, 0.25, &d, 7);
        z = zdotc_(&i, &z, &i, &z, &i);
    }
    dgesv_(&i);
    printf("%g %g %g %g %g %g%+gi %d\n", c, d, ddot_(&i, &x, &i, &x, &i), sdot_(&i, &f, &i, &f, &i),
           scipy_cblas_ddot64_(2, &x, 3, &x, 4), creal(z), cimag(z), i);
    return 0;
}
