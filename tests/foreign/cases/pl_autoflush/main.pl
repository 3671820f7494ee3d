# Prints lines with autoflush on, or off.
use strict;
use warnings;
use IO::Handle;
my $cured = @ARGV && $ARGV[0] eq 'twin';
open(my $out, '>', 'lines.txt') or die;
$out->autoflush(1) unless $cured;
print $out "line $_ ", $_ * 7 % 1013, "\n" for 1 .. 600000;
close($out);
print "lines 600000\n";
