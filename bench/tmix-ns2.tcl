# Tmix in ns-2, the peer of `isobath sim replay`. See tmix-ns2.
#
#   ns tmix-ns2.tcl VECTORS SECONDS [TRACE]
#
# One set of vectors in the alternate format, from initiators at one end to acceptors at the other, over 1 Gbit/s and a box that gives each
# connection its round trip and loses nothing. With TRACE what leaves the two hosts goes there, for its figures; without, nothing
# looks on.

lassign $argv vectors seconds trace

remove-all-packet-headers
add-packet-header IP TCP
set ns [new Simulator]
foreach {name value} {segsize_ 1448 nodelay_ true segsperack_ 2 interval_ 0.04} {
    Agent/TCP/FullTcp set $name $value
}
set near [$ns node]
set far [$ns node]
set box [$ns Tmix_DelayBox]
$box set-cvfile $vectors [$near id] [$far id]
$box set-lossless
foreach {from to} [list $near $box $box $far] {
    $ns duplex-link $from $to 1000Mb 0.01ms DropTail
    $ns queue-limit $from $to 65000
    $ns queue-limit $to $from 65000
}

set tmix [new Tmix]
$tmix set-init $near
$tmix set-acc $far
$tmix set-ID 7
$tmix set-cvfile $vectors
$tmix set-TCP Newreno

if {$trace ne ""} {
    set told [open $trace w]
    $ns trace-queue $near $box $told
    $ns trace-queue $far $box $told
}
$ns at 0.0 "$tmix start"
$ns at $seconds "$tmix stop"
$ns at [expr {$seconds + 1}] "exit 0"
$ns run
