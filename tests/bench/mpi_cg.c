/* Conjugate gradients, with the size and the communication of a rank of NPB's CG, class A, on four ranks:
 * 3500 rows of 132 numbers; per iteration a gather of the vector and two sums. The first argument is the
 * number of solutions (default: 1). Prints the residual's norm and the seconds. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 3500, NUMBERS = 132, STEPS = 25 };

static double p[ROWS], q[ROWS], r[ROWS], x[ROWS];
static double *whole;
static int ranks, rank;

static double dot(const double *a, const double *b)
{
    double mine = 0, sum;
    for (int i = 0; i < ROWS; i++)
        mine += a[i] * b[i];
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* Computes q = A p. The matrix A has 2 * NUMBERS on its diagonal, and -1 in NUMBERS - 1 scattered columns of
 * each row. */
static void multiply(void)
{
    MPI_Allgather(p, ROWS, MPI_DOUBLE, whole, ROWS, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < ROWS; i++) {
        double sum = 2 * NUMBERS * p[i];
        for (int k = 1; k < NUMBERS; k++)
            sum -= whole[(rank * ROWS + i + k * k * 7) % (ranks * ROWS)];
        q[i] = sum;
    }
}

void solve(void)
{
    double rho = dot(r, r);
    for (int step = 0; step < STEPS; step++) {
        multiply();
        double alpha = rho / dot(p, q);
        for (int i = 0; i < ROWS; i++)
            x[i] += alpha * p[i], r[i] -= alpha * q[i];
        double next = dot(r, r), beta = next / rho;
        for (int i = 0; i < ROWS; i++)
            p[i] = r[i] + beta * p[i];
        rho = next;
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    whole = malloc(sizeof *whole * ROWS * (size_t)ranks);
    double begin = MPI_Wtime();
    for (int left = argc > 1 ? atoi(argv[1]) : 1; left > 0; left--) {
        for (int i = 0; i < ROWS; i++)
            x[i] = 0.0, p[i] = r[i] = 1.0 + (rank * ROWS + i) % 17;
        solve();
    }
    double left = sqrt(dot(r, r));
    if (rank == 0)
        printf("%g %.6f\n", left, MPI_Wtime() - begin);
    free(whole);
    MPI_Finalize();
    return 0;
}
