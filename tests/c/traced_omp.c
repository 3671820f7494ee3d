/* Runs OpenMP in two threads, with work in a parallel region and in a task that runs in a barrier. */
static volatile int sum;

static void adds(void)
{
#pragma omp critical
    sum++;
}

int main(void)
{
    for (int i = 0; i < 10; i++)
#pragma omp parallel num_threads(2)
    {
        adds();
#pragma omp single nowait
#pragma omp task
        adds();
#pragma omp barrier
    }
    return sum != 30;
}
