# Sorts lines into files by key: opens the file for each line, or once.
use strict;
use warnings;
my $cured = @ARGV && $ARGV[0] eq 'twin';
my %open;
for my $i (1 .. 80000) {
    my $key = $i % 40;
    if ($cured) {
        if (!$open{$key}) { open($open{$key}, '>>', "group$key") or die }
        print { $open{$key} } "line $i\n";
    } else {
        open(my $out, '>>', "group$key") or die;
        print $out "line $i\n";
        close($out);
    }
}
close($_) for values %open;
print "lines 80000\n";
