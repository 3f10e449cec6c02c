use super::*;
use crate::model::PageModel;
use crate::result::Kind;

const TOKEN: u64 = 0x0123_4567_89ab_cdef;
const URLS: Urls = Urls::OfHosts {
    token: TOKEN,
    port: 4890,
};

fn octets(model: &PageModel, number: u16) -> Vec<u8> {
    let mut content = Content::new(layout(model, number, URLS).segments);
    let mut all = Vec::new();
    while let Some(piece) = content.next_piece() {
        assert!(!piece.is_empty());
        all.extend_from_slice(&piece);
    }
    all
}

#[test]
fn every_object_has_the_size_that_the_model_says() {
    for name in PageModel::names() {
        let model = PageModel::find(name).unwrap();
        for (number, object) in (0..).zip(model.objects()) {
            let octets = octets(&model, number);
            assert_eq!(octets.len() as u64, object.size.get(), "{name} {number}");
        }
    }
}

#[test]
fn every_object_is_named_exactly_once_and_by_its_parent() {
    let model = PageModel::find("today").unwrap();
    for (number, object) in (0..).zip(model.objects()).skip(1) {
        let url = URLS.of(&model, number);
        for parent in 0..u16::try_from(model.objects().len()).unwrap() {
            let text = String::from_utf8_lossy(&octets(&model, parent)).into_owned();
            let expected = usize::from(object.after == Some(parent));
            assert_eq!(text.matches(&url).count(), expected, "{url} in {parent}");
        }
    }
}

#[test]
fn the_document_reveals_an_object_where_its_tag_ends() {
    let model = PageModel::find("rrul2013").unwrap();
    let text = String::from_utf8(octets(&model, 0)).unwrap();
    let reveals = layout(&model, 0, URLS).reveals;
    assert_eq!(reveals.len(), model.revealed_by(0).count());
    assert!(reveals.is_sorted());
    for (end, number) in reveals {
        let before = &text[..usize::try_from(end).unwrap()];
        let last = before.lines().last().unwrap();
        assert!(last.contains(&URLS.of(&model, number)));
        let (place, size) = (
            model.objects()[usize::from(number)].place,
            text.len() as u64,
        );
        let wanted = size * u64::from(place) / 100;
        assert!(end >= wanted && end < wanted + size / 10, "{number}: {end}");
    }
}

#[test]
fn filler_does_not_end_the_comment_it_stands_in() {
    let model = PageModel::find("today").unwrap();
    let text = String::from_utf8(octets(&model, 0)).unwrap();
    assert_eq!(text.matches("<!--").count(), text.matches("-->").count());
    let style = String::from_utf8(octets(&model, 1)).unwrap();
    assert_eq!(
        (style.matches("/*").count(), style.matches("*/").count()),
        (1, 1)
    );
}

#[test]
fn an_object_as_small_as_it_may_be_holds_all_names() {
    let model = PageModel::find("today").unwrap();
    let mut json = serde_json::to_value(&model).unwrap();
    for number in 0..u16::try_from(model.objects().len()).unwrap() {
        let size = format!("{}B", least(&model, number));
        json["objects"][usize::from(number)]["size"] = size.into();
    }
    let tight: PageModel = serde_json::from_value(json).unwrap();
    let widest = Urls::OfHosts {
        token: TOKEN,
        port: u16::MAX,
    };
    for (number, object) in (0..).zip(tight.objects()) {
        let segments = layout(&tight, number, widest).segments;
        let length: u64 = segments.iter().map(Segment::len).sum();
        assert_eq!(length, object.size.get(), "{number}");
    }
}

#[test]
fn in_one_folder_objects_are_named_by_their_files() {
    let model = PageModel::find("small").unwrap();
    for (number, object) in (0..).zip(model.objects()).skip(1) {
        let (media_type, octets) = model.octets_in_folder(number).unwrap();
        assert_eq!(octets.len() as u64, object.size.get());
        assert!(object.kind != Kind::Image || media_type == "image/gif");
        let file = Urls::OfFolder.of(&model, number);
        assert_eq!(model.object_in_folder(&file), Some(number), "{file}");
        let parent = model.octets_in_folder(object.after.unwrap()).unwrap().1;
        let text = String::from_utf8_lossy(&parent).into_owned();
        let named = [format!("\"{file}\""), format!("({file})")];
        assert!(named.iter().any(|name| text.contains(name)), "{file}");
    }
    for file in ["x", "1.gif", "99.css", "/", "0.html", "-1.css"] {
        assert_eq!(model.object_in_folder(file), None, "{file}");
    }
    assert_eq!(model.object_in_folder(""), Some(0));
    assert!(model.octets_in_folder(99).is_none());
}
