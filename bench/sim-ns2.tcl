# A dumbbell of N TCP transfers in ns-2, the peer of `isobath sim btc`. See sim-peers.
#
#   ns sim-ns2.tcl FLOWS SECONDS [FILE]
#
# TCP/Linux with its Reno, SACK, time stamps and delayed acknowledgements. With FILE, what passes the two ends of each transfer is recorded: its trace
# of the first and the last link, both ways. Without, nothing is.

lassign $argv flows seconds file

remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
Agent/TCP/Linux set timestamps_ true
Agent/TCP/Linux set packetSize_ 1448
Agent/TCP/Linux set window_ 100000
Agent/TCPSink/Sack1/DelAck set ts_echo_rfc1323_ true
if {$file ne ""} {
    set trace [open $file w]
}
set near [$ns node]
set far [$ns node]
$ns duplex-link $near $far 100Mb 10ms DropTail
$ns queue-limit $near $far 167

for {set flow 0} {$flow < $flows} {incr flow} {
    set sender [$ns node]
    set receiver [$ns node]
    foreach {from to} [list $sender $near $far $receiver] {
        $ns duplex-link $from $to 1000Mb 1ms DropTail
        $ns queue-limit $from $to 10000
        if {$file ne ""} {
            $ns trace-queue $from $to $trace
            $ns trace-queue $to $from $trace
        }
    }
    set tcp [new Agent/TCP/Linux]
    $ns at 0 "$tcp select_ca reno"
    set sink [new Agent/TCPSink/Sack1/DelAck]
    $ns attach-agent $sender $tcp
    $ns attach-agent $receiver $sink
    $ns connect $tcp $sink
    set source [new Application/FTP]
    $source attach-agent $tcp
    $ns at [expr $flow * 0.01] "$source start"
}
$ns at $seconds "finish"
proc finish {} {
    global file trace
    if {$file ne ""} {
        close $trace
    }
    exit 0
}
$ns run
