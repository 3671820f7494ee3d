/* A library whose functions have names of BLAS, with arguments of every kind: beyond the registers, integers
 * and doubles mixed, a complex result. */
#include <complex.h>
void dgemm_(const char *ta, const char *tb, int *m, int *n, int *k, double *alpha, double *a, int *lda,
            double *b, int *ldb, double *beta, double *c, int *ldc, long la, long lb)
{
    *c = *ta + *tb + *m + *n + *k + *alpha + *a + *lda + *b + *ldb + *beta + *ldc + la * 1000 + lb * 2000;
}
double ddot_(int *n, double *x, int *ix, double *y, int *iy) { return *n * *x * *y + *ix + *iy; }
float sdot_(int *n, float *x, int *ix, float *y, int *iy) { return *n * *x * *y + *ix + *iy; }
double complex zdotc_(int *n, double complex *x, int *ix, double complex *y, int *iy)
{
    return conj(*x) * *y + *n + *ix + *iy;
}
void cblas_dgemm(int o, int ta, int tb, int m, int n, int k, double alpha, double *a, int lda, double *b,
                 int ldb, double beta, double *c, int ldc)
{
    *c = o + 10 * ta + 20 * tb + m + n + k + alpha + *a + lda + *b + ldb + beta + ldc;
}
void dgesv_(int *n)
{
    int one = 1;
    double x = 2;
    *n = (int)ddot_(&one, &x, &one, &x, &one);
}

/* Returns a number that the test can predict. It stands in for the dot product, under the name of that
 * function in NumPy's BLAS. */
double scipy_cblas_ddot64_(long n, const double *x, long ix, const double *y, long iy)
{
    return (double)n * *x * *y + (double)ix + (double)iy;
}
