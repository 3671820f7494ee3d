# Splits lines by key, and closes the file after each line, or at the end.
{
    print $2 >> ("group" ($2 % 20))
    if (mode != "twin") close("group" ($2 % 20))
}
END { print "lines", NR }
