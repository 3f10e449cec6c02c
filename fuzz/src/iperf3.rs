//! What an iperf3 server or client may say: understood or refused, and the same in one piece or octet by octet.

use far_ends::iperf3::{Asked, Client, Event, Head, Params, Results, Server, cookie};

/// Runs the target on an input: whose words, and the words.
pub fn run(input: &[u8]) {
    let [who, octets @ ..] = input else { return };
    match who % 3 {
        0 => assert_eq!(to_client(octets, octets.len().max(1)), to_client(octets, 1)),
        1 => assert_eq!(to_server(octets, octets.len().max(1)), to_server(octets, 1)),
        _ => datagram(octets, *who >= 128),
    }
}

fn to_client(octets: &[u8], piece: usize) -> (Vec<Event>, Vec<u8>) {
    let params = Params {
        parallel: 2,
        up: true,
        ..Params::default()
    };
    let mut client = Client::new(cookie([1; 4]), params);
    let (mut events, mut said) = (Vec::new(), Vec::new());
    for octets in octets.chunks(piece) {
        client.handle(octets);
        while let Some(event) = client.poll_event() {
            if event == Event::Run {
                client.end(Results::default());
            }
            if let Event::Results(results) = &event {
                assert!(results.streams.len() <= 2);
            }
            events.push(event);
        }
        said.extend(client.take_output());
    }
    (events, said)
}

fn to_server(octets: &[u8], piece: usize) -> (Vec<Asked>, Vec<u8>) {
    let mut server = Server::default();
    let (mut events, mut said) = (Vec::new(), Vec::new());
    for octets in octets.chunks(piece) {
        server.handle(octets);
        while let Some(event) = server.poll_event() {
            match &event {
                Asked::Test(_, params) => {
                    assert!(params.streams() <= 256 && params.block <= 1 << 20);
                    server.accept();
                    server.run();
                }
                Asked::End => server.tell(&Results::default()),
                _ => {}
            }
            events.push(event);
        }
        said.extend(server.take_output());
    }
    (events, said)
}

fn datagram(octets: &[u8], is_long: bool) {
    let Some(head) = Head::parse(octets, is_long) else {
        return;
    };
    if u32::try_from(head.sent.as_secs()).is_err() {
        return;
    }
    let mut again = octets.to_vec();
    head.emit(&mut again, is_long);
    // Microseconds beyond a second are carried.
    assert_eq!(Head::parse(&again, is_long), Some(head));
}
