use super::*;
use crate::{Body, Loss, MAX_ADUS, Side, Transport, Turn, Vector};
use core::time::Duration;
use proptest::prelude::*;

/// In the syntax of ns-2's samples, with figures of our own.
const ORIGINAL: &str = "\
# made up
SEQ 3500 2 21 5001
w 64800 6432
r 1118000
l 0.000000 0.157900
> 253
t 123000
< 510
t 650000
< 7
t 6300000
CONC 368000 3 2 26 7001
w 17520 64240
r 153270
l 0.214300 0.111100
m 1460 536
c> 169
t> 2740000
c> 11
t> 5007000
c< 219
t< 2085000
c< 55
c> 49
t> 0
SEQ 400000 1 3 9
w 1 2
r 0
l 0.000000 1.000000
< 1
";

const ALTERNATE: &str = "\
# made up
S 3500 2 21 5001
w 64800 6432
r 1118000
l 0.000000 0.157900
I 0 0 253
A 0 123000 510
A 650000 0 7
A 6300000 0 0
C 368000 3 2 26 7001
w 17520 64240
r 153270
l 0.214300 0.111100
m 1460 536
I 0 0 169
I 2740000 0 11
A 0 0 219
A 2085000 0 55
I 5007000 0 49
I 1 0 0
S 400000 1 3 9
w 1 2
r 0
l 0.000000 1.000000
A 0 0 1
";

fn read(text: &[u8]) -> Result<Vec<Vector>, Error> {
    Reader::new(text)?.collect()
}

fn written(vectors: &[Vector], format: Format) -> String {
    let mut writer = Writer::new(Vec::new(), format);
    for vector in vectors {
        writer.vector(vector).unwrap();
    }
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

/// The number of the line and what is wrong with it.
fn refused(text: &str) -> (u64, Problem) {
    match read(text.as_bytes()) {
        Err(Error::Text { line, problem }) => (line, problem),
        other => panic!("{other:?}"),
    }
}

/// Holds tmix/format.
#[test]
fn both_forms_say_the_same_and_are_written_as_they_were() {
    let vectors = read(ORIGINAL.as_bytes()).unwrap();
    let first_line = "# made up\n";
    assert_eq!(
        written(&vectors, Format::Original),
        ORIGINAL[first_line.len()..]
    );
    assert_eq!(
        written(&vectors, Format::Alternate),
        ALTERNATE[first_line.len()..]
    );
    let mut alternate = read(ALTERNATE.as_bytes()).unwrap();
    assert_eq!(
        written(&alternate, Format::Alternate),
        ALTERNATE[first_line.len()..]
    );
    // A wait of nothing is a microsecond in the alternate form.
    let Body::Concurrent { tails, .. } = &mut alternate[1].body else {
        panic!("a concurrent one")
    };
    assert_eq!(
        tails[0].replace(Duration::ZERO),
        Some(Duration::from_micros(1))
    );
    assert_eq!(alternate, vectors);
}

#[test]
fn comments_before_the_first_vector_are_kept_and_others_are_not() {
    let text = format!("# one \n\n#two\n{ORIGINAL}# three\n\n");
    let reader = Reader::new(text.as_bytes()).unwrap();
    assert_eq!(reader.preamble(), b"# one \n#two\n# made up\n");
    assert_eq!(reader.format(), Some(Format::Original));
    assert_eq!(reader.map(Result::unwrap).count(), 3);
    let mut writer = Writer::new(Vec::new(), Format::Original);
    writer.comment(b"# one\n\ntwo\n").unwrap();
    assert_eq!(writer.finish().unwrap(), b"# one\n# two\n");
}

#[test]
fn an_empty_file_has_no_vectors() {
    assert_eq!(read(b"").unwrap(), []);
    assert_eq!(read(b"# nothing\n").unwrap(), []);
    assert_eq!(Reader::new(&b""[..]).unwrap().format(), None);
}

#[test]
fn an_error_names_its_line() {
    use Problem::*;
    let head = "SEQ 0 1 0 0\nw 1 1\n";
    let conc = "CONC 0 1 1 0 0\n";
    let alt = "S 0 1 0 0\n";
    for (text, line, problem) in [
        ("hello\n".to_owned(), 1, NotALine),
        ("\n\n\u{e9}\n".to_owned(), 3, NotALine),
        ("w 1 1\n".to_owned(), 1, Outside),
        ("SEQ 0 1 0\n".to_owned(), 1, FewFields),
        ("SEQ 0 1 0 0 0\n".to_owned(), 1, ManyFields),
        ("SEQ 0 1 -1 0\n".to_owned(), 1, NotANumber),
        ("SEQ 0 1 99999999999999999999 0\n".to_owned(), 1, NotANumber),
        (format!("{head}> +5\n"), 3, NotANumber),
        (format!("{head}w 1 1\n"), 3, Twice),
        (format!("{head}l 0.0 1.5\n"), 3, NotANumber),
        (format!("{head}> 0\n"), 3, NoOctets),
        (format!("{head}> 1\n> 2\n"), 4, NoWait),
        (format!("{head}t 1\n> 2\n"), 3, WaitAlone),
        (format!("{head}> 1\nt 1\nt 1\n"), 5, WaitAlone),
        (format!("{head}c> 1\n"), 3, OtherForm),
        (format!("{head}I 0 0 1\n"), 3, OtherForm),
        (format!("{head}> 1\nt> 1\n"), 4, OtherForm),
        (format!("{conc}c> 1\nt< 1\n"), 3, WaitAlone),
        (format!("{conc}> 1\n"), 2, OtherForm),
        (format!("{conc}c> 1\n"), 1, Counts),
        (format!("{alt}I 0 5 1\n"), 2, WrongWait),
        (format!("{alt}I 0 0 1\nA 5 0 1\n"), 3, WrongWait),
        (format!("{alt}I 0 0 1\nI 5 0 0\nA 0 1 1\n"), 4, Closed),
        (format!("{alt}I 5 0 0\n"), 2, WaitAlone),
        (format!("#\n{head}SEQ 0 1 0 0\n"), 2, NoAdus),
        (format!("{head}> 1\nt 1\n> 2\n"), 1, Counts),
    ] {
        assert_eq!(refused(&text), (line, problem), "{text}");
    }
    let error = read(b"SEQ 0 1 0 x\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1: a field is not a number, or too large a one"
    );
}

#[test]
fn after_an_error_there_are_no_more_vectors() {
    let text = format!("SEQ 0 1 0 0\nnonsense\n{ORIGINAL}");
    let found: Vec<_> = Reader::new(text.as_bytes()).unwrap().collect();
    assert!(matches!(found[..], [Err(_)]));
}

#[test]
fn a_vector_has_a_limit() {
    let mut text = String::from("SEQ 0 1 0 0\n> 1\n");
    text.push_str(&"t 1\n> 1\n".repeat(MAX_ADUS));
    assert_eq!(refused(&text).1, Problem::ManyAdus);
}

prop_compose! {
    fn turns()(turns in prop::collection::vec((any::<bool>(), 1..=u64::MAX, 1..=u64::MAX), 1..20)) -> Vec<Turn> {
        turns.into_iter().map(|(initiator, bytes, wait)| Turn {
            side: if initiator { Side::Initiator } else { Side::Acceptor },
            bytes,
            wait: Duration::from_micros(wait),
        }).collect()
    }
}

/// Any vector that both forms can say: waits of at least a microsecond, none before the first ADUs.
fn vector() -> impl Strategy<Value = Vector> {
    let pair = || any::<(u32, u32)>().prop_map(|(a, b)| [a, b]);
    let tail = || prop::option::of((1..=u64::MAX).prop_map(Duration::from_micros));
    let loss = || (0..=1_000_000_u32).prop_map(Loss::from_millionths);
    let numbers = (any::<u64>(), any::<[u64; 2]>(), pair(), any::<u64>());
    let rest = (loss(), loss(), prop::option::of(pair()));
    (numbers, rest, any::<bool>(), turns(), tail(), tail()).prop_map(
        |((start, ids, windows, rtt), (ours, theirs, mss), concurrent, turns, one, two)| Vector {
            transport: Transport::Tcp,
            start: Duration::from_micros(start),
            ids,
            windows,
            min_rtt: (rtt > 0).then_some(Duration::from_micros(rtt)),
            loss: [ours, theirs],
            mss,
            body: body(concurrent, turns, [one, two]),
        },
    )
}

fn body(concurrent: bool, mut turns: Vec<Turn>, tails: [Option<Duration>; 2]) -> Body {
    if !concurrent {
        turns[0].wait = Duration::ZERO;
        return Body::Sequential {
            turns,
            tail: tails[0],
        };
    }
    let mut kept = [None; 2];
    for side in Side::BOTH {
        if let Some(first) = turns.iter_mut().find(|turn| turn.side == side) {
            first.wait = Duration::ZERO;
            kept[side.index()] = tails[side.index()];
        }
    }
    Body::Concurrent { turns, tails: kept }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(vectors in prop::collection::vec(vector(), 0..4)) {
        for format in [Format::Original, Format::Alternate] {
            let text = written(&vectors, format);
            prop_assert_eq!(&read(text.as_bytes()).unwrap(), &vectors);
        }
    }

    #[test]
    fn no_text_is_too_strange(text in "([SCIAwrlm<>ct#]|SEQ|CONC|[0-9]{1,3}|\\.| |\\n){0,80}") {
        if let Ok(vectors) = read(text.as_bytes()) {
            let again = written(&vectors, Format::Original);
            prop_assert_eq!(written(&read(again.as_bytes()).unwrap(), Format::Original), again);
        }
    }
}
