# Reads a text file whole and counts the lines of each key.
use strict;
use warnings;
open(my $in, '<', 'input.txt') or die;
my $text = do { local $/; <$in> };
my %count;
$count{$1}++ while $text =~ /^(key\d+) /mg;
print "keys ", scalar(keys %count), "\n";
