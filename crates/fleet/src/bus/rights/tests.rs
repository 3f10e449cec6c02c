//! What a real server lets an agent do that has its own key, and what not.

use super::*;
use crate::bus::{Access, Bus, connect};
use crate::lease::{Answer, Ask};
use crate::messages::{Knock, Presence};
use crate::outcome::{Became, Outcome, Times};
use crate::revisions::Document;
use crate::{Identity, Moment, RunId};
use futures_util::StreamExt as _;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::time::timeout;

/// Unpacked by scripts/setup.sh.
const SERVER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/tools/nats-server/bin/nats-server"
);
/// What is not answered by then is not answered.
const PATIENCE: Duration = Duration::from_millis(400);

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server with users of the fleet, and how operator, `a` and `b` reach it.
fn server(dir: &Path) -> (Server, FleetFile, [Access; 3]) {
    let names = ["operator", "a", "b"];
    let keys = names.map(|name| Identity::read_or_make(&dir.join(name)).unwrap().public());
    let [operator, a, b] = &keys;
    let text = format!(
        "name = 'f'\n[[host]]\nname = 'a'\nkey = '{a}'\n[[host]]\nname = 'b'\nkey = '{b}'\n\
         [[measure]]\nname = 'm'\nrun = 'btc'\npairs = {{ mesh = ['all'] }}\ntakes = '20s'\nevery = '1min'"
    );
    let file = FleetFile::parse(&text, "the fleet file").unwrap();
    let users = users(&file, std::slice::from_ref(operator)).unwrap();
    fs::write(dir.join("nats.conf"), users).unwrap();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut command = Command::new(SERVER);
    command
        .args([
            "--jetstream",
            "--addr",
            "127.0.0.1",
            "-c",
            "nats.conf",
            "--store_dir",
            "nats",
        ])
        .args(["--port", &port.to_string()])
        .current_dir(dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let server = Server(command.spawn().expect("run scripts/setup.sh test"));
    let access = names.map(|name| Access {
        nkey: Some(dir.join(name)),
        ..Access::at(&format!("nats://127.0.0.1:{port}"))
    });
    (server, file, access)
}

fn outcome(from: &str, to: &str) -> Outcome {
    let run: RunId = format!("f.m.{from}.{to}.20261125T080000000Z")
        .parse()
        .unwrap();
    let times = Times {
        planned: run.instant,
        began: None,
        ended: run.instant,
    };
    Outcome::without_record(run, None, times, Became::Missed, "no lease".to_owned())
}

fn presence(name: &str) -> Presence {
    Presence {
        name: name.parse().unwrap(),
        site: None,
        tags: Vec::new(),
        isobath: "0".to_owned(),
        verbs: Vec::new(),
        started: Moment::default(),
        said: Moment::default(),
        key: None,
        address: "127.0.0.1:4890".parse().unwrap(),
        running: Vec::new(),
        waiting: 0,
    }
}

/// It is not answered, or answered with an error.
async fn is_refused<T>(work: impl Future<Output = anyhow::Result<T>>) -> bool {
    !matches!(timeout(PATIENCE, work).await, Ok(Ok(_)))
}

#[tokio::test]
async fn an_agent_does_its_own_work_and_neither_reads_nor_says_anything_of_others() {
    let place = tempfile::tempdir().unwrap();
    let (_server, file, [as_operator, as_a, as_b]) = server(place.path());
    let operator = loop {
        match Bus::open(&as_operator, "operator").await {
            Ok(bus) => break bus,
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    let document = Document {
        file: "name = 'f'".to_owned(),
        since: Moment::default(),
        paused: true,
    };
    operator.revise(&file.name, &document, 0).await.unwrap();
    let [a, b] = ["a", "b"].map(|name| name.parse::<Name>().unwrap());
    let agent = async |access: &Access, name: &Name| {
        let connection = connect(access, "agent", Some(name)).await.unwrap();
        (Bus::on(&connection).await.unwrap(), connection)
    };
    let ((of_a, connection), (of_b, _)) = (agent(&as_a, &a).await, agent(&as_b, &b).await);
    let [key_a, key_b] = ["a", "b"].map(|name| Identity::read(&place.path().join(name)).unwrap());

    // What each does as an agent.
    of_a.say(&presence("a")).await.unwrap();
    let mut watched = of_a.watch_fleets().await.unwrap();
    assert_eq!(watched.next().await.unwrap().unwrap().key, "f");
    let lease = Ask::Create("host.b".to_owned());
    assert!(matches!(
        of_a.lease(&lease, "mine").await,
        Answer::Stored(_)
    ));
    assert_eq!(
        of_b.lease(&lease, "mine, too").await,
        Answer::Taken("mine".to_owned())
    );
    let folder = place.path().join("record");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("run.json"), "{}").unwrap();
    let mut told = outcome("b", "a");
    told.files = of_b.keep_record(&told.run, &folder).await.unwrap();
    assert!(!of_b.keep(&told, &key_b).await.unwrap());
    // After a crash all of it comes again.
    assert_eq!(
        of_b.keep_record(&told.run, &folder).await.unwrap(),
        told.files
    );
    assert!(of_b.keep(&told, &key_b).await.unwrap());
    let mut knocks = of_b.knocks(&b).await.unwrap();
    let knock = Knock {
        run: outcome("a", "b").run,
        verb: "btc".to_owned(),
    };
    // The server may hear of the subscription after the first of them.
    let heard = loop {
        let asked = timeout(PATIENCE, of_a.knock(&b, &knock));
        if let (_, Ok(heard)) = tokio::join!(asked, timeout(PATIENCE, knocks.next())) {
            break heard;
        }
    };
    assert_eq!(Bus::knocker(&heard.unwrap()), Some(a.clone()));

    // What none may do for, or read of, another.
    assert!(is_refused(of_a.say(&presence("b"))).await);
    assert!(connection.refused().unwrap().contains("isobath-agents"));
    assert!(is_refused(of_a.keep(&outcome("b", "c"), &key_a)).await);
    assert!(is_refused(of_a.outcome(&told.run)).await);
    assert!(is_refused(of_a.outcomes(None, Moment::default())).await);
    assert!(is_refused(of_a.fetch_record(&told, &folder)).await);
    assert!(is_refused(of_a.present()).await);
    assert!(is_refused(of_a.revise(&file.name, &document, 1)).await);
    let as_b_himself = Knock {
        run: told.run.clone(),
        verb: "btc".to_owned(),
    };
    assert!(is_refused(of_a.knock(&b, &as_b_himself)).await);
    let client = &connection.client;
    for request in [
        format!("$JS.API.STREAM.MSG.GET.{RESULTS}"),
        format!("$JS.API.STREAM.PURGE.OBJ_{RECORDS}"),
        format!("$JS.API.STREAM.DELETE.{RESULTS}"),
        format!("$JS.API.STREAM.UPDATE.KV_{LEASES}"),
        format!("$JS.API.CONSUMER.CREATE.{RESULTS}"),
        format!("$JS.API.CONSUMER.CREATE.OBJ_{RECORDS}"),
    ] {
        let asked = async { Ok(client.request(request.clone(), "{}".into()).await?) };
        assert!(is_refused(asked).await, "{request}");
    }
    let mut others = Vec::new();
    for subject in ["isobath.result.>", "isobath.knock.b.*", "_INBOX_b.>", ">"] {
        others.push(client.subscribe(subject).await.unwrap());
    }
    let mut own = client.subscribe("_INBOX_a.x").await.unwrap();
    client.flush().await.unwrap();
    for subject in ["isobath.knock.b.c", "_INBOX_b.x", "_INBOX_a.x"] {
        operator.client.publish(subject, "".into()).await.unwrap();
    }
    operator.keep(&outcome("c", "b"), &key_b).await.unwrap();
    assert!(own.next().await.is_some());
    for other in &mut others {
        let heard = timeout(Duration::from_millis(100), other.next()).await;
        assert!(!matches!(heard, Ok(Some(_))), "{heard:?}");
    }

    // All is as it was.
    let kept = operator.outcomes(None, Moment::default()).await.unwrap();
    let runs: Vec<_> = kept
        .iter()
        .map(|told| told.outcome.run.to_string())
        .collect();
    assert_eq!(
        runs,
        ["b.a", "c.b"].map(|pair| format!("f.m.{pair}.20261125T080000000Z"))
    );
    assert_eq!(kept[0].signer, Some(key_b.public()));
    of_a.say(&presence("a")).await.unwrap();
    assert_eq!(operator.present().await.unwrap(), [presence("a")]);
    assert_eq!(operator.revisions(&file.name).await.unwrap().len(), 1);
    let fetched = place.path().join("fetched");
    fs::create_dir(&fetched).unwrap();
    operator.fetch_record(&told, &fetched).await.unwrap();
    assert_eq!(fs::read(fetched.join("run.json")).unwrap(), b"{}");

    // Whoever may do everything can tell first; that is not taken for what was to be handed over.
    let of_a_himself = Outcome {
        reason: Some("NATS was away".to_owned()),
        ..outcome("a", "b")
    };
    operator.keep(&outcome("a", "b"), &key_b).await.unwrap();
    let refused = of_a.keep(&of_a_himself, &key_a).await.unwrap_err();
    assert!(refused.to_string().contains("somebody else"), "{refused}");

    // Objects have no owners: what another has put there is not what was signed.
    fs::write(folder.join("run.json"), "[]").unwrap();
    let put = timeout(PATIENCE, of_a.keep_record(&told.run, &folder)).await;
    drop(put);
    let forged = operator.fetch_record(&told, &fetched).await;
    assert!(forged.unwrap_err().to_string().contains("not the file"));
}

#[test]
fn a_host_without_a_key_has_no_user() {
    let text = "name = 'f'\n[[host]]\nname = 'a'\n[[host]]\nname = 'b'\n[[measure]]\nname = 'm'\nrun = 'btc'\n\
                pairs = { mesh = ['all'] }\ntakes = '20s'\nevery = '1min'";
    let file = FleetFile::parse(text, "the fleet file").unwrap();
    assert_eq!(users(&file, &[]).unwrap_err().as_str(), "a");
}
