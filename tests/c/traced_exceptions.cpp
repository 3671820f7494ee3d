// Functions that exceptions leave, built with -finstrument-functions.
static volatile int sum;

extern "C" {
void throws(void)
{
    for (int i = 0; i < 1000; i++)
        sum = sum + i;
    throw 1;
}

void passes_on(int depth)
{
    for (int i = 0; i < 1000; i++)
        sum = sum + i;
    if (depth > 0)
        passes_on(depth - 1);
    else
        throws();
    sum = sum + 1;
}

void afterwards(void)
{
    for (int i = 0; i < 1000; i++)
        sum = sum + i;
}

void catches(void)
{
    try {
        passes_on(3);
    } catch (int) {
        afterwards();
    }
}
}

int main()
{
    for (int i = 0; i < 5; i++)
        catches();
    return 0;
}
