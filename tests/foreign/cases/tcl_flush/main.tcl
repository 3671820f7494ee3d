# Writes lines and flushes the channel after each, or never.
set cured [expr {[lindex $argv 0] eq "twin"}]
set out [open lines.txt w]
for {set i 0} {$i < 300000} {incr i} {
    puts $out "line $i"
    if {!$cured} {flush $out}
}
close $out
puts "lines 300000"
