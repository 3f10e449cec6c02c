-- Isobath's datagrams in Wireshark and tshark: segments, acknowledgements and probes.
--
--   tshark -X lua_script:isobath.lua -r sender.pcapng
--
-- or put this file where Wireshark's "About > Folders > Personal Lua Plugins" says. Datagrams are known by their first four
-- octets, 'ISOB', on any port; those of port 4890 are also shown when they are not understood.
--
-- Shown beside the fields themselves, each within one capture interface:
--   isobath.retransmission, isobath.copy, isobath.first_copy   a segment that was seen before, how often, and where first
--   isobath.duplicate                                          a packet that was seen before: the path doubled it
--   isobath.acked_in, isobath.ack_of, isobath.ack_time         a packet and the acknowledgement that it caused
--   isobath.response_in, isobath.response_to, isobath.time     a request and its reply

local isobath = Proto("isobath", "Isobath")

local SEGMENT, ACK, WINDOW_PROBE = 4, 5, 6
local PORT = 4890

local kinds = {
    [1] = "request", [2] = "reply", [3] = "one-way",
    [SEGMENT] = "segment", [ACK] = "acknowledgement", [WINDOW_PROBE] = "window probe",
}
local ecn = { [0] = "Not-ECT", [1] = "ECT(1)", [2] = "ECT(0)", [3] = "CE" }

-- Fields: abbreviation after "isobath.", in the order in which they are made.
local f = {}
local function field(name, made)
    f[name] = made
end
local function ns(name, title, text)
    field(name, ProtoField.uint64("isobath." .. name, title, base.UNIT_STRING, { " ns" }, nil, text))
end
local function segments(name, title, text)
    field(name, ProtoField.uint32("isobath." .. name, title, base.UNIT_STRING, { " segments" }, nil, text))
end

field("magic", ProtoField.string("isobath.magic", "Magic"))
field("version", ProtoField.uint8("isobath.version", "Version"))
field("kind", ProtoField.uint8("isobath.kind", "Kind", base.DEC, kinds))
field("stream", ProtoField.uint16("isobath.stream", "Stream"))
field("session", ProtoField.uint64("isobath.session", "Session", base.HEX))
field("tag", ProtoField.bytes("isobath.tag", "Tag", base.NONE, "Keyed BLAKE3; cannot be checked without the session's key"))
field("seq", ProtoField.uint32("isobath.seq", "Sequence"))
field("payload", ProtoField.bytes("isobath.payload", "Payload"))
ns("sent", "Sent", "The sender's monotonic clock")

-- Of segments.
field("flags", ProtoField.uint8("isobath.flags", "Flags", base.HEX))
field("flags_last", ProtoField.bool("isobath.flags.last", "Last segment", 8, nil, 0x01))
field("flags_cwr", ProtoField.bool("isobath.flags.cwr", "Congestion window reduced", 8, nil, 0x02))
field("len", ProtoField.uint16("isobath.len", "Length", base.UNIT_STRING, { " octets" }, nil, "Octets of payload"))
field("id", ProtoField.uint64("isobath.id", "Packet identifier", base.HEX, nil, nil,
    "Of this packet; in an acknowledgement, of the packet that caused it"))
field("id_count", ProtoField.uint32("isobath.id.count", "Packet number", base.DEC, nil, nil, "Upper half of the identifier"))

-- Of acknowledgements.
field("flags_ece", ProtoField.bool("isobath.flags.ece", "Congestion experienced", 8, nil, 0x01))
field("ack", ProtoField.uint32("isobath.ack", "Expected next"))
ns("echo", "Echo of sent", "The sender's monotonic clock")
field("highest", ProtoField.uint64("isobath.highest", "Packet with the highest sequence", base.HEX))
field("echo_delay", ProtoField.uint32("isobath.echo_delay", "Echo delay", base.UNIT_STRING, { " ns" }, nil,
    "How long the segment with that echo waited for this acknowledgement"))
segments("window", "Window", "Segments that the receiver has room for beyond what is expected next")
field("sack_count", ProtoField.uint8("isobath.sack.count", "SACK blocks"))
field("sack", ProtoField.none("isobath.sack", "SACK block"))
field("sack_first", ProtoField.uint32("isobath.sack.first", "First", base.DEC, nil, nil, "First sequence of the block"))
field("sack_end", ProtoField.uint32("isobath.sack.end", "End", base.DEC, nil, nil, "First sequence after the block"))
field("dsack", ProtoField.bool("isobath.sack.dsack", "Duplicate (RFC 2883)"))

-- Of probes.
field("class", ProtoField.uint8("isobath.class", "Class", base.HEX, nil, nil, "The traffic-class octet that it was sent with"))
field("class_dscp", ProtoField.uint8("isobath.class.dscp", "DSCP", base.DEC, nil, 0xfc))
field("class_ecn", ProtoField.uint8("isobath.class.ecn", "ECN", base.DEC, ecn, 0x03))
field("arrived", ProtoField.uint8("isobath.arrived", "Arrived with", base.HEX, nil, nil,
    "The traffic-class octet that the request had at the far end"))
field("arrived_dscp", ProtoField.uint8("isobath.arrived.dscp", "DSCP", base.DEC, nil, 0xfc))
field("arrived_ecn", ProtoField.uint8("isobath.arrived.ecn", "ECN", base.DEC, ecn, 0x03))
field("pflags", ProtoField.uint16("isobath.probe_flags", "Flags", base.HEX))
field("pflags_kernel", ProtoField.bool("isobath.probe_flags.kernel_stamp", "Received was stamped by the kernel", 16, nil, 0x0001))
field("pflags_arrived", ProtoField.bool("isobath.probe_flags.arrived_known", "Arrived is known", 16, nil, 0x0002))
ns("received", "Received", "The far end's monotonic clock")
ns("replied", "Replied", "The far end's monotonic clock")
ns("held", "Held", "Replied less received")

-- What follows from several packets.
field("retransmission", ProtoField.bool("isobath.retransmission", "Retransmission"))
field("copy", ProtoField.uint32("isobath.copy", "Copy", base.DEC, nil, nil, "How often the segment had been seen before"))
field("first_copy", ProtoField.framenum("isobath.first_copy", "First copy in", base.NONE, frametype.RETRANS_PREV))
field("duplicate", ProtoField.framenum("isobath.duplicate", "The same packet as in", base.NONE, frametype.DUP_ACK))
field("acked_in", ProtoField.framenum("isobath.acked_in", "Acknowledged in", base.NONE, frametype.ACK))
field("ack_of", ProtoField.framenum("isobath.ack_of", "Acknowledges the packet in", base.NONE, frametype.ACK))
field("ack_time", ProtoField.relative_time("isobath.ack_time", "Time since that packet"))
field("response_in", ProtoField.framenum("isobath.response_in", "Reply in", base.NONE, frametype.RESPONSE))
field("response_to", ProtoField.framenum("isobath.response_to", "Reply to", base.NONE, frametype.REQUEST))
field("time", ProtoField.relative_time("isobath.time", "Time since the request"))

do
    local all = {}
    for _, made in pairs(f) do
        all[#all + 1] = made
    end
    isobath.fields = all
end

local e = {
    retransmission = ProtoExpert.new("isobath.expert.retransmission", "Retransmission",
        expert.group.SEQUENCE, expert.severity.NOTE),
    duplicate = ProtoExpert.new("isobath.expert.duplicate", "The path doubled this packet",
        expert.group.SEQUENCE, expert.severity.NOTE),
    dsack = ProtoExpert.new("isobath.expert.dsack", "The receiver had this segment already",
        expert.group.SEQUENCE, expert.severity.NOTE),
    congestion = ProtoExpert.new("isobath.expert.congestion", "Congestion experienced",
        expert.group.SEQUENCE, expert.severity.NOTE),
    length = ProtoExpert.new("isobath.expert.length", "The datagram has another length than its header says",
        expert.group.MALFORMED, expert.severity.ERROR),
    cut = ProtoExpert.new("isobath.expert.cut", "The header was not captured as a whole",
        expert.group.UNDECODED, expert.severity.WARN),
    unknown = ProtoExpert.new("isobath.expert.unknown", "A version or kind that is not known",
        expert.group.UNDECODED, expert.severity.WARN),
}
isobath.experts = { e.retransmission, e.duplicate, e.dsack, e.congestion, e.length, e.cut, e.unknown }

local interface_of = Field.new("frame.interface_id")

-- What is remembered of a file. `first` and `count` by segment; `frames` and `times` by packet; `acks` by packet;
-- `requests` and `replies` by probe. `of` is what was found out about a frame when it was first seen.
local seen

function isobath.init()
    seen = { first = {}, count = {}, frames = {}, times = {}, acks = {}, requests = {}, replies = {}, of = {} }
end

-- Whether sequence `a` is before `b`, modulo 2^32 (RFC 1982).
local function before(a, b)
    local distance = (b - a) % 4294967296
    return distance ~= 0 and distance < 2147483648
end

-- By which interface, session and stream are told apart.
local function conversation(tvb)
    local interface = interface_of()
    return string.format("%d/%s/%d", interface and interface.value or 0, tvb(16, 8):bytes():tohex(), tvb(8, 2):uint())
end

-- A span in seconds, to the nanosecond.
local function span(seconds)
    local whole = math.floor(seconds)
    return NSTime.new(whole, math.floor((seconds - whole) * 1e9 + 0.5))
end

local function generated(tree, made, value)
    return tree:add(made, value):set_generated()
end

-- Once a frame: which segment and which packet this is, and what was known of them.
local function note_segment(tvb, pinfo, kind)
    local found = seen.of[pinfo.number]
    if not found then
        local talk = conversation(tvb)
        local packet = talk .. "/" .. tvb(40, 8):bytes():tohex()
        found = { packet = packet }
        found.duplicate = seen.frames[packet]
        if not found.duplicate then
            seen.frames[packet], seen.times[packet] = pinfo.number, pinfo.rel_ts
            -- A probe of the window has the number of a segment that is still to come.
            if kind == SEGMENT then
                local segment = talk .. "/" .. tvb(12, 4):uint()
                found.first = seen.first[segment]
                found.copy = seen.count[segment] or 0
                seen.first[segment] = found.first or pinfo.number
                seen.count[segment] = found.copy + 1
            end
        end
        seen.of[pinfo.number] = found
    end
    return found
end

local function analyse_segment(tvb, pinfo, tree, kind)
    local found = note_segment(tvb, pinfo, kind)
    local told = ""
    if found.first then
        local item = generated(tree, f.retransmission, true)
        item:add_proto_expert_info(e.retransmission)
        generated(tree, f.first_copy, found.first)
        told = " [retransmission]"
    end
    if found.copy then
        generated(tree, f.copy, found.copy)
    end
    if found.duplicate then
        generated(tree, f.duplicate, found.duplicate):add_proto_expert_info(e.duplicate)
        told = told .. " [duplicate]"
    end
    local acked = seen.acks[found.packet]
    if acked then
        generated(tree, f.acked_in, acked)
    end
    return told
end

-- A segment or a probe of the window; returns what the Info column says.
local function segment(tvb, pinfo, tree, kind)
    local flags = tree:add(f.flags, tvb(6, 1))
    flags:add(f.flags_last, tvb(6, 1))
    flags:add(f.flags_cwr, tvb(6, 1))
    local len = tree:add(f.len, tvb(10, 2))
    tree:add(f.seq, tvb(12, 4))
    tree:add(f.sent, tvb(32, 8))
    tree:add(f.id, tvb(40, 8)):add(f.id_count, tvb(40, 4))
    if tvb:reported_len() ~= math.max(tvb(10, 2):uint() + 24, 48) then
        len:add_proto_expert_info(e.length)
    end
    if tvb:len() > 48 then
        tree:add(f.payload, tvb(48))
    end
    local bits = tvb(6, 1):uint()
    local names = (bits % 2 == 1 and " last" or "") .. (bits % 4 >= 2 and " cwr" or "")
    local told = analyse_segment(tvb, pinfo, tree, kind)
    return string.format("seq %d len %d%s%s", tvb(12, 4):uint(), tvb(10, 2):uint(), names, told)
end

-- RFC 2883: the first block is a duplicate when it is not beyond what is expected, or lies in the second.
local function is_dsack(tvb, count)
    local first, stop = tvb(64, 4):uint(), tvb(68, 4):uint()
    if before(first, tvb(12, 4):uint()) then
        return true
    end
    return count > 1 and not before(first, tvb(72, 4):uint()) and not before(tvb(76, 4):uint(), stop)
end

local function blocks(tvb, tree, count)
    local told = ""
    for index = 0, count - 1 do
        local at = 64 + 8 * index
        if tvb:len() < at + 8 then
            tree:add_proto_expert_info(e.cut)
            return told
        end
        local first, stop = tvb(at, 4):uint(), tvb(at + 4, 4):uint()
        local block = tree:add(f.sack, tvb(at, 8))
        block:append_text(string.format(": %d to %d", first, (stop - 1) % 4294967296))
        block:add(f.sack_first, tvb(at, 4))
        block:add(f.sack_end, tvb(at + 4, 4))
        local duplicate = index == 0 and (count < 2 or tvb:len() >= 80) and is_dsack(tvb, count)
        if duplicate then
            generated(block, f.dsack, true):add_proto_expert_info(e.dsack)
        end
        told = string.format("%s%s%d-%d", told, duplicate and " dsack " or " sack ", first, (stop - 1) % 4294967296)
    end
    return told
end

local function analyse_ack(tvb, pinfo, tree)
    local packet = conversation(tvb) .. "/" .. tvb(40, 8):bytes():tohex()
    if not pinfo.visited and not seen.acks[packet] then
        seen.acks[packet] = pinfo.number
    end
    local sent = seen.frames[packet]
    if sent and sent < pinfo.number then
        generated(tree, f.ack_of, sent)
        generated(tree, f.ack_time, span(pinfo.rel_ts - seen.times[packet]))
    end
end

local function acknowledgement(tvb, pinfo, tree)
    local flags = tree:add(f.flags, tvb(6, 1))
    local ece = flags:add(f.flags_ece, tvb(6, 1))
    local count = tvb(7, 1):uint()
    local counted = tree:add(f.sack_count, tvb(7, 1))
    tree:add(f.ack, tvb(12, 4))
    tree:add(f.echo, tvb(32, 8))
    tree:add(f.id, tvb(40, 8)):add(f.id_count, tvb(40, 4))
    if tvb:len() < 64 then
        tree:add_proto_expert_info(e.cut)
        return string.format("ack %d", tvb(12, 4):uint())
    end
    tree:add(f.highest, tvb(48, 8))
    tree:add(f.echo_delay, tvb(56, 4))
    tree:add(f.window, tvb(60, 4))
    if tvb:reported_len() ~= 64 + 8 * count then
        counted:add_proto_expert_info(e.length)
    end
    local told = blocks(tvb, tree, count)
    local marked = tvb(6, 1):uint() % 2 == 1
    if marked then
        ece:add_proto_expert_info(e.congestion)
    end
    analyse_ack(tvb, pinfo, tree)
    return string.format("ack %d win %d%s%s", tvb(12, 4):uint(), tvb(60, 4):uint(), told, marked and " ece" or "")
end

-- Remembers a request or a reply, and shows the other one.
local function analyse_probe(tvb, pinfo, tree, kind)
    local probe = conversation(tvb) .. "/" .. tvb(12, 4):uint()
    local mine = kind == 1 and seen.requests or seen.replies
    if not pinfo.visited and not mine[probe] then
        mine[probe] = { number = pinfo.number, at = pinfo.rel_ts }
    end
    local request, reply = seen.requests[probe], seen.replies[probe]
    if kind == 1 and reply then
        generated(tree, f.response_in, reply.number)
    elseif kind == 2 and request then
        generated(tree, f.response_to, request.number)
        generated(tree, f.time, span(pinfo.rel_ts - request.at))
    end
end

-- A request, its reply, or a datagram that wants none.
local function probe(tvb, pinfo, tree, kind)
    if tvb:len() < 56 then
        tree:add_proto_expert_info(e.cut)
        return ""
    end
    local class = tree:add(f.class, tvb(6, 1))
    class:add(f.class_dscp, tvb(6, 1))
    class:add(f.class_ecn, tvb(6, 1))
    local bits = tvb(10, 2):uint()
    if bits % 4 >= 2 then
        local arrived = tree:add(f.arrived, tvb(7, 1))
        arrived:add(f.arrived_dscp, tvb(7, 1))
        arrived:add(f.arrived_ecn, tvb(7, 1))
    end
    local flags = tree:add(f.pflags, tvb(10, 2))
    flags:add(f.pflags_kernel, tvb(10, 2))
    flags:add(f.pflags_arrived, tvb(10, 2))
    tree:add(f.seq, tvb(12, 4))
    tree:add(f.sent, tvb(32, 8))
    if kind == 2 then
        tree:add(f.received, tvb(40, 8))
        tree:add(f.replied, tvb(48, 8))
        generated(tree, f.held, tvb(48, 8):uint64() - tvb(40, 8):uint64())
    end
    if tvb:len() > 56 then
        tree:add(f.payload, tvb(56))
    end
    if kind ~= 3 then
        analyse_probe(tvb, pinfo, tree, kind)
    end
    return string.format("seq %d len %d", tvb(12, 4):uint(), tvb:reported_len())
end

local function is_ours(tvb)
    return tvb:len() >= 4 and tvb(0, 4):string() == "ISOB"
end

function isobath.dissector(tvb, pinfo, root)
    if not is_ours(tvb) then
        return 0
    end
    pinfo.cols.protocol = "Isobath"
    local tree = root:add(isobath, tvb())
    tree:add(f.magic, tvb(0, 4))
    if tvb:len() < 48 then
        tree:add_proto_expert_info(e.cut)
        return tvb:len()
    end
    local version, kind = tvb(4, 1):uint(), tvb(5, 1):uint()
    tree:add(f.version, tvb(4, 1))
    tree:add(f.kind, tvb(5, 1))
    if version ~= 1 or not kinds[kind] then
        tree:add_proto_expert_info(e.unknown)
        pinfo.cols.info = string.format("version %d, kind %d", version, kind)
        return tvb:len()
    end
    tree:add(f.stream, tvb(8, 2))
    tree:add(f.session, tvb(16, 8))
    tree:add(f.tag, tvb(24, 8))
    local told
    if kind == ACK then
        told = acknowledgement(tvb, pinfo, tree)
    elseif kind == SEGMENT or kind == WINDOW_PROBE then
        told = segment(tvb, pinfo, tree, kind)
    else
        told = probe(tvb, pinfo, tree, kind)
    end
    pinfo.cols.info = string.format("%s stream %d %s", kinds[kind], tvb(8, 2):uint(), told)
    tree:append_text(", " .. kinds[kind] .. ", " .. told)
    return tvb:len()
end

isobath:register_heuristic("udp", function(tvb, pinfo, root)
    if not is_ours(tvb) then
        return false
    end
    isobath.dissector(tvb, pinfo, root)
    return true
end)
DissectorTable.get("udp.port"):add(PORT, isobath)
