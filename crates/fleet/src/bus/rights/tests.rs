//! What a real server lets an agent do that has its own key, and what not.

use super::*;
use crate::bus::{Access, Bus, Connection, connect, parse};
use crate::lease::{Answer, Ask};
use crate::messages::{Demand, Knock, Presence, Promise};
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

/// A server, and an operator and two agents at it.
struct Scene {
    _server: Server,
    place: tempfile::TempDir,
    file: FleetFile,
    document: Document,
    operator: Bus,
    a: Agent,
    b: Agent,
}

struct Agent {
    name: Name,
    key: Identity,
    bus: Bus,
    connection: Connection,
}

async fn agent(dir: &Path, name: &str, access: &Access) -> Agent {
    let name: Name = name.parse().unwrap();
    let connection = connect(access, "agent", Some(&name)).await.unwrap();
    Agent {
        key: Identity::read(&dir.join(name.as_str())).unwrap(),
        bus: Bus::on(&connection).await.unwrap(),
        connection,
        name,
    }
}

impl Scene {
    async fn set() -> Self {
        let place = tempfile::tempdir().unwrap();
        let (server, file, [as_operator, as_a, as_b]) = server(place.path());
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
        Self {
            a: agent(place.path(), "a", &as_a).await,
            b: agent(place.path(), "b", &as_b).await,
            _server: server,
            place,
            file,
            document,
            operator,
        }
    }

    /// What became of a run of `b`, with a record, handed over twice, as after a crash.
    async fn told(&self) -> Outcome {
        let folder = self.place.path().join("record");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("run.json"), "{}").unwrap();
        let (b, mut told) = (&self.b, outcome("b", "a"));
        for again in [false, true] {
            told.files = b.bus.keep_record(&told.run, &folder).await.unwrap();
            assert_eq!(b.bus.keep(&told, &b.key).await.unwrap(), again);
        }
        told
    }
}

#[tokio::test]
async fn an_agent_can_do_its_own_work() {
    let scene = Box::pin(Scene::set()).await;
    let (a, b) = (&scene.a, &scene.b);
    a.bus.say(&presence("a")).await.unwrap();
    assert_eq!(scene.operator.present().await.unwrap(), [presence("a")]);
    let mut watched = a.bus.watch_fleets(1).await.unwrap();
    let (name, first) = watched.next().await.unwrap();
    assert_eq!(name.as_str(), "f");
    // What comes later is heard, and what is refused is not.
    let later = Document {
        paused: true,
        ..first.clone()
    };
    let revisions = scene.operator.revisions(&name).await.unwrap();
    let last = revisions.last().unwrap().0;
    let refused = scene.operator.revise(&name, &first, last + 7).await;
    assert!(refused.is_err(), "{refused:?}");
    scene.operator.revise(&name, &later, last).await.unwrap();
    let heard = timeout(PATIENCE * 50, watched.next()).await.unwrap();
    assert_eq!(heard.unwrap(), (name, later));
    let lease = Ask::Create("host.b".to_owned());
    let stored = a.bus.lease(&lease, "mine").await;
    assert!(matches!(stored, Answer::Stored(_)), "{stored:?}");
    let taken = b.bus.lease(&lease, "mine, too").await;
    assert_eq!(taken, Answer::Taken("mine".to_owned()));

    let mut knocks = b.bus.knocks(&b.name).await.unwrap();
    let knock = Knock {
        run: outcome("a", "b").run,
        verb: "btc".to_owned(),
    };
    // The server may hear of the subscription after the first of them.
    let heard = loop {
        let asked = timeout(PATIENCE, a.bus.knock(&b.name, &knock));
        if let (_, Ok(heard)) = tokio::join!(asked, timeout(PATIENCE, knocks.next())) {
            break heard;
        }
    };
    assert_eq!(Bus::knocker(&heard.unwrap()).as_ref(), Some(&a.name));

    demands_are_taken(&scene).await;
    let told = scene.told().await;
    let kept = scene.operator.outcome(&told.run).await.unwrap().unwrap();
    assert_eq!(
        (kept.outcome, kept.signer),
        (told.clone(), Some(b.key.public()))
    );
    let fetched = scene.place.path().join("fetched");
    fs::create_dir(&fetched).unwrap();
    scene
        .operator
        .fetch_record(&told, &fetched, u64::MAX)
        .await
        .unwrap();
    assert_eq!(fs::read(fetched.join("run.json")).unwrap(), b"{}");
    // Nothing is left of that on the server, which takes only so many consumers.
    let stream = scene.operator.jetstream.get_stream("OBJ_isobath-records");
    assert_eq!(stream.await.unwrap().cached_info().state.consumer_count, 0);

    // Objects have no owners: what another has put there is not what was signed.
    let folder = scene.place.path().join("record");
    fs::write(folder.join("run.json"), "[]").unwrap();
    let forged = loop {
        // It has no right to remove what was there before, and so waits in vain.
        drop(timeout(PATIENCE, a.bus.keep_record(&told.run, &folder)).await);
        if let Err(error) = scene.operator.fetch_record(&told, &fetched, u64::MAX).await {
            break error;
        }
    };
    assert!(forged.to_string().contains("not the file"));
}

/// An operator asks for a run now, and no agent does.
async fn demands_are_taken(scene: &Scene) {
    let (a, b) = (&scene.a, &scene.b);
    let demand = Demand {
        run: outcome("a", "b").run,
    };
    let demands = b.bus.demands(&b.name).await.unwrap();
    let no = || Promise::No {
        reason: "it is late".to_owned(),
    };
    let answering = b.bus.answer_all(demands, |message| {
        let heard = parse::<Demand>(&message.payload).unwrap();
        if heard == demand { Promise::Yes } else { no() }
    });
    let asking = async {
        // The server may hear of the subscription after the first of them.
        while scene.operator.demand(&b.name, &demand).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let other = Demand {
            run: outcome("b", "a").run,
        };
        let refused = scene.operator.demand(&b.name, &other).await.unwrap_err();
        assert_eq!(refused.to_string(), "agent 'b' refuses: it is late");
        assert!(is_refused(a.bus.demand(&b.name, &demand)).await);
    };
    tokio::select! {
        over = answering => panic!("{over:?}"),
        () = asking => {}
    }
}

#[tokio::test]
async fn a_record_whose_parts_are_deleted_is_not_waited_for() {
    let scene = Box::pin(Scene::set()).await;
    let told = scene.told().await;
    let stream = scene.operator.jetstream.get_stream("OBJ_isobath-records");
    let parts = "$O.isobath-records.C.>";
    stream.await.unwrap().purge().filter(parts).await.unwrap();
    let folder = scene.place.path().join("gone");
    fs::create_dir(&folder).unwrap();
    let error = scene.operator.fetch_record(&told, &folder, u64::MAX).await;
    let error = format!("{:#}", error.unwrap_err());
    assert!(error.contains("its parts may be deleted"), "{error}");
}

#[tokio::test]
async fn an_agent_can_neither_read_nor_say_anything_of_others() {
    let scene = Box::pin(Scene::set()).await;
    let (a, b, operator) = (&scene.a, &scene.b, &scene.operator);
    let told = scene.told().await;
    assert!(is_refused(a.bus.say(&presence("b"))).await);
    let refused = loop {
        match a.connection.refused() {
            Some(refused) => break refused,
            None => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    assert!(refused.contains("isobath-agents"), "{refused}");
    assert!(is_refused(a.bus.keep(&outcome("b", "c"), &a.key)).await);
    assert!(is_refused(a.bus.outcome(&told.run)).await);
    assert!(is_refused(a.bus.outcomes(None, Moment::default())).await);
    assert!(is_refused(a.bus.fetch_record(&told, scene.place.path(), u64::MAX)).await);
    assert!(is_refused(a.bus.present()).await);
    assert!(is_refused(a.bus.revise(&scene.file.name, &scene.document, 1)).await);
    let as_b = Knock {
        run: told.run.clone(),
        verb: "btc".to_owned(),
    };
    assert!(is_refused(a.bus.knock(&b.name, &as_b)).await);
    for request in [
        format!("$JS.API.STREAM.MSG.GET.{RESULTS}"),
        format!("$JS.API.STREAM.PURGE.OBJ_{RECORDS}"),
        format!("$JS.API.STREAM.DELETE.{RESULTS}"),
        format!("$JS.API.STREAM.UPDATE.KV_{LEASES}"),
        format!("$JS.API.CONSUMER.CREATE.{RESULTS}"),
        format!("$JS.API.CONSUMER.CREATE.OBJ_{RECORDS}"),
    ] {
        let asked = a.connection.client.request(request.clone(), "{}".into());
        assert!(is_refused(async { Ok(asked.await?) }).await, "{request}");
    }
    // All is as it was.
    let kept = operator.outcomes(None, Moment::default()).await.unwrap();
    let kept: Vec<_> = kept.into_iter().map(|kept| kept.outcome).collect();
    assert_eq!(kept, [told]);
    assert_eq!(operator.present().await.unwrap(), []);
    let revisions = operator.revisions(&scene.file.name).await.unwrap();
    assert_eq!(revisions.len(), 1);

    // Whoever may do everything can tell first; that is not taken for what was to be handed over.
    let of_a = Outcome {
        reason: Some("NATS was away".to_owned()),
        ..outcome("a", "b")
    };
    operator.keep(&outcome("a", "b"), &b.key).await.unwrap();
    let refused = a.bus.keep(&of_a, &a.key).await.unwrap_err();
    assert!(refused.to_string().contains("somebody else"), "{refused}");
}

#[tokio::test]
async fn an_agent_cannot_hear_what_goes_to_others() {
    let scene = Box::pin(Scene::set()).await;
    let client = &scene.a.connection.client;
    let mut others = Vec::new();
    for subject in [
        "isobath.result.>",
        "isobath.knock.b.*",
        "isobath.demand.b",
        "_INBOX_b.>",
        ">",
    ] {
        others.push(client.subscribe(subject).await.unwrap());
    }
    let mut own = client.subscribe("_INBOX_a.x").await.unwrap();
    let say = async |subject: &'static str| {
        let operator = &scene.operator.client;
        operator.publish(subject, "".into()).await.unwrap();
    };
    // Once it hears this, the server has heard of all of these.
    loop {
        say("_INBOX_a.x").await;
        if timeout(PATIENCE, own.next()).await.is_ok() {
            break;
        }
    }
    for subject in ["isobath.knock.b.c", "isobath.demand.b", "_INBOX_b.x"] {
        say(subject).await;
    }
    scene.told().await;
    for other in &mut others {
        let heard = timeout(Duration::from_millis(100), other.next()).await;
        assert!(!matches!(heard, Ok(Some(_))), "{heard:?}");
    }
}

#[test]
fn a_host_without_a_key_has_no_user() {
    let text = "name = 'f'\n[[host]]\nname = 'a'\n[[host]]\nname = 'b'\n[[measure]]\nname = 'm'\nrun = 'btc'\n\
                pairs = { mesh = ['all'] }\ntakes = '20s'\nevery = '1min'";
    let file = FleetFile::parse(text, "the fleet file").unwrap();
    assert_eq!(users(&file, &[]).unwrap_err().as_str(), "a");
}
