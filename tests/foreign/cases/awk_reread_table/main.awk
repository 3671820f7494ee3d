# Looks up each query in a table that it reads again for each query, or once.
function load_table(   line, part) {
    while ((getline line < "table.txt") > 0) {
        split(line, part, " ")
        value[part[1]] = part[2]
    }
    close("table.txt")
}
BEGIN { if (mode == "twin") load_table() }
{
    if (mode != "twin") load_table()
    total += value[$1]
}
END { print "total", total }
