# Sums a column of a text file.
{ total += $2 }
END { printf "total %.0f\n", total }
