# Counts the digits of a file with sysread of one byte, or of 64 KiB.
use strict;
use warnings;
my $size = @ARGV && $ARGV[0] eq 'twin' ? 65536 : 1;
open(my $in, '<', 'input.txt') or die;
my ($digits, $piece) = (0, '');
while (sysread($in, $piece, $size)) { $digits += ($piece =~ tr/0-9//) }
print "digits $digits\n";
