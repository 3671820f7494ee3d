/* Counts primes by trial division, or with a sieve; writes them with few calls either way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 2400000

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    int *primes = malloc(LIMIT * sizeof *primes), number = 0;
    char *composite = calloc(LIMIT, 1);
    for (int i = 2; i < LIMIT; i++) {
        int prime = 1;
        if (cured) {
            prime = !composite[i];
            if (prime)
                for (long j = (long)i * i; j < LIMIT; j += i)
                    composite[j] = 1;
        } else {
            for (int j = 2; (long)j * j <= i && prime; j++)
                prime = i % j != 0;
        }
        if (prime)
            primes[number++] = i;
    }
    FILE *stream = fopen("primes.bin", "wb");
    fwrite(primes, sizeof *primes, number, stream);
    fclose(stream);
    printf("primes %d\n", number);
    return 0;
}
