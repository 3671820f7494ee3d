"""Computes for two seconds and prints one line."""

total = 0
for number in range(9000000):
    total = (total * 31 + number) % 1000003
print("total", total)
