use super::*;
use proptest::prelude::*;

const SMALL: &str = r#"
name = "small"
summary = "for tests"
hosts = ["www", "img"]

[[object]]
kind = "document"
host = "www"
size = "20kB"

[[object]]
id = "css"
kind = "style"
host = "www"
size = "8kB"

[[object]]
kind = "image"
hosts = ["img", "www"]
sizes = ["2kB", "4kB", "30kB"]
count = 4

[[object]]
kind = "font"
host = "img"
after = "css"
size = "1kB"
"#;

fn small() -> PageModel {
    PageModel::parse(SMALL, "small").unwrap()
}

/// The error of [`SMALL`] with `old` replaced by `new`.
#[track_caller]
fn refusal(old: &str, new: &str) -> String {
    assert!(SMALL.contains(old), "{old}");
    let text = SMALL.replacen(old, new, 1);
    let message = PageModel::parse(&text, "m.toml").unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

/// Holds rrul/page-of-2013.
#[test]
fn the_built_in_models_are_pages_of_their_time() {
    let old = PageModel::find("rrul2013").unwrap();
    assert!((80..=90).contains(&old.objects().len()));
    assert!((12..=15).contains(&old.hosts().len()));
    assert!((950_000..1_050_000).contains(&old.bytes().get()));
    let new = PageModel::find("today").unwrap();
    assert!((65..=75).contains(&new.objects().len()));
    assert_eq!(new.hosts().len(), 12);
    assert!((2_200_000..2_400_000).contains(&new.bytes().get()));
    for name in PageModel::names() {
        assert_eq!(PageModel::find(name).unwrap().name(), name);
    }
}

#[test]
fn tables_become_objects_in_order() {
    let model = small();
    let images: Vec<_> = model.objects()[2..6].iter().collect();
    assert_eq!(model.objects().len(), 7);
    assert!(images.iter().all(|image| image.after == Some(0)));
    let sizes = images.iter().map(|image| image.size.get());
    assert_eq!(sizes.collect::<Vec<_>>(), [2_000, 4_000, 30_000, 2_000]);
    let hosts = images.iter().map(|image| image.host);
    assert_eq!(hosts.collect::<Vec<_>>(), [1, 0, 1, 0]);
    let places = images.iter().map(|image| image.place);
    assert_eq!(places.collect::<Vec<_>>(), [10, 31, 52, 73]);
    assert_eq!(model.objects()[6].after, Some(1));
}

#[test]
fn each_mistake_is_told_with_its_line() {
    let table = [
        (
            "host = \"www\"",
            "host = \"web\"",
            "line 6: 'web' is not among",
        ),
        ("\"20kB\"", "\"20\"", "line 9: '20' is not a size"),
        ("\"20kB\"", "\"20B\"", "line 6: 20B - it needs at least"),
        (
            "\"20kB\"",
            "\"17MiB\"",
            "line 6: 17MiB - an object has at most",
        ),
        (
            "after = \"css\"",
            "after = \"js\"",
            "line 23: no object above",
        ),
        ("\"font\"", "\"fetch\"", "line 23: a style reveals no fetch"),
        ("\"font\"", "\"fnt\"", "line 24: unknown variant `fnt`"),
        ("count = 4", "count = 4000", "line 17: 4000 objects"),
        ("count = 4", "count = 0", "line 17: 0 objects"),
        (
            "count = 4",
            "id = \"many\"\ncount = 4",
            "line 17: 4 objects cannot",
        ),
        ("count = 4", "place = 101", "line 17: a place is"),
        ("count = 4", "delay = \"1h\"", "line 17: delay 1h - at most"),
        ("count = 4", "sized = 4", "line 21: unknown field `sized`"),
        ("count = 4", "size = \"1kB\"", "line 17: write either size"),
        ("\"document\"", "\"style\"", "line 6: the first object is"),
        ("\"img\"]", "\"img\", \"Img\"]", "line 1: 'Img' is no host"),
        (
            "\"img\"]",
            "\"img\", \"www\"]",
            "line 1: host 'www' is there twice",
        ),
        ("\"small\"", "\"<small>\"", "line 1: a name is"),
    ];
    for (old, new, told) in table {
        let message = refusal(old, new);
        assert!(message.starts_with(&format!("m.toml, {told}")), "{message}");
    }
}

#[test]
fn a_page_of_more_than_64_mib_is_refused() {
    let message = refusal(
        "sizes = [\"2kB\", \"4kB\", \"30kB\"]",
        "sizes = [\"16MiB\"]",
    );
    assert!(message.contains("in all"), "{message}");
}

#[test]
fn a_model_that_is_nowhere_is_refused_with_the_names_of_those_there_are() {
    let message = PageModel::find("rrul2031").unwrap_err().to_string();
    assert!(message.contains("rrul2013, today, small"), "{message}");
    assert!(!message.contains('\n'), "{message}");
}

#[test]
fn json_keeps_a_model_and_is_checked() {
    for name in PageModel::names() {
        let model = PageModel::find(name).unwrap();
        let json = serde_json::to_string(&model).unwrap();
        assert!(json.len() < 16_000, "{}", json.len());
        assert_eq!(serde_json::from_str::<PageModel>(&json).unwrap(), model);
    }
    let json = serde_json::to_value(small()).unwrap();
    for (pointer, value) in [
        ("/objects/3/after", 3),
        ("/objects/3/after", 6),
        ("/objects/3/host", 2),
        ("/objects/6/place", 1),
        ("/objects/3/after", 65_536),
    ] {
        let mut wrong = json.clone();
        let (object, field) = pointer.rsplit_once('/').unwrap();
        wrong.pointer_mut(object).unwrap()[field] = value.into();
        let error = serde_json::from_value::<PageModel>(wrong);
        assert!(error.is_err(), "{pointer} = {value}");
    }
}

#[test]
fn an_object_is_found_at_its_path_and_at_no_other() {
    let model = small();
    for number in 0..7 {
        let host = &model.hosts()[usize::from(model.objects()[usize::from(number)].host)];
        assert_eq!(model.object_at(host, &model.path(number)), Some(number));
    }
    for (host, path) in [
        ("www", "/1.js"),
        ("img", "/1.css"),
        ("www", "/01.css"),
        ("www", "/+1.css"),
        ("www", "/7.gif"),
        ("www", "/0.html"),
        ("www", "/99999.gif"),
        ("www", ""),
    ] {
        assert_eq!(model.object_at(host, path), None, "{host}{path}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in ".{0,200}") {
        let _ = PageModel::parse(&text, "x");
    }

    #[test]
    fn no_damaged_model_panics(at in 0..SMALL.len(), octet in 32_u8..127) {
        let mut text = SMALL.as_bytes().to_vec();
        text[at] = octet;
        let _ = PageModel::parse(&String::from_utf8(text).unwrap(), "x");
    }

    #[test]
    fn whatever_json_is_accepted_keeps_the_rules(
        after in proptest::collection::vec(0_u16..12, 11),
        kinds in proptest::collection::vec(0_usize..6, 11),
    ) {
        use Kind::{Document, Fetch, Font, Image, Script, Style};
        let object = |kind, after, size| Object {
            host: 0, kind, size: Bytes::new(size), after, place: 0, delay: Span::default(),
        };
        let kind = |n: usize| [Document, Fetch, Font, Image, Script, Style][n];
        let rest = kinds.iter().zip(&after).map(|(n, after)| object(kind(*n), Some(*after), 4_000));
        let draft = Draft {
            name: "x".to_owned(),
            summary: String::new(),
            hosts: vec!["www".to_owned()],
            objects: std::iter::once(object(Document, None, 8_000)).chain(rest).collect(),
        };
        if let Ok(model) = PageModel::try_from(draft) {
            for (number, object) in model.objects().iter().enumerate().skip(1) {
                prop_assert!(usize::from(object.after.unwrap()) < number);
                prop_assert!(object.kind != Document);
            }
        }
    }
}
