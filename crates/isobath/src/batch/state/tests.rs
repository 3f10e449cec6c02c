use super::*;
use kit::pool::lock::{create, lock};
use tempfile::TempDir;

const TOML: &str = "repetitions = 2\nplans = ['ping', 'own.toml']\nlabs = ['lan']\n";

/// A folder with a batch's file, its own plan, and a state in `batch/`.
fn place() -> (TempDir, PathBuf, State) {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("own.toml"), "a plan").unwrap();
    let file = place.path().join("my.toml");
    fs::write(&file, TOML).unwrap();
    let batch = BatchFile::parse(TOML, "my.toml").unwrap();
    let state = State::new(file, TOML.to_owned(), &batch, Some(7)).unwrap();
    let dir = place.path().join("batch");
    let _lock = create(&dir).unwrap();
    state.save(&dir).unwrap();
    (place, dir, state)
}

#[test]
fn what_is_saved_is_loaded() {
    let (_place, dir, mut state) = place();
    assert_eq!(State::load(&dir).unwrap().0, state);
    let entry = &mut state.cells[2];
    entry.state = Progress::Failed;
    entry.attempts = 2;
    entry.exit_status = Some(3);
    entry.reason = Some("no answer".to_owned());
    entry.seconds = Some(0.1 + 0.2);
    state.save(&dir).unwrap();
    let (loaded, batch) = State::load(&dir).unwrap();
    assert_eq!(loaded, state);
    assert_eq!(batch.plans, ["ping", "own.toml"]);
    assert_eq!(loaded.groups().map(<[_]>::len).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(loaded.name, "my");
}

#[test]
fn a_truncated_file_is_told_in_one_line_wherever_it_was_cut() {
    let (_place, dir, _) = place();
    let path = dir.join(FILE);
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() - 2 {
        fs::write(&path, &whole[..length]).unwrap();
        let message = State::load(&dir).unwrap_err().to_string();
        assert!(
            message.contains("batch.json is damaged: ") && !message.contains('\n'),
            "{length}: {message}"
        );
    }
}

#[test]
fn a_file_that_contradicts_itself_is_refused() {
    let (_place, dir, state) = place();
    let refused = |change: &dyn Fn(&mut State), said: &str| {
        let mut state = state.clone();
        change(&mut state);
        state.save(&dir).unwrap();
        let message = State::load(&dir).unwrap_err().to_string();
        assert!(message.contains(said), "{message}");
    };
    let cells = "its cells are not those of its TOML";
    refused(&|state| state.cells[0].cell.folder = "../out".into(), cells);
    refused(&|state| drop(state.cells.pop()), cells);
    refused(&|state| state.toml.push_str("retries = 'x'"), "toml line 4");
    let order = "its order does not name every cell once";
    refused(&|state| state.order[0] = 0, order);
    refused(&|state| state.order[0] = state.order[1], order);
    refused(&|state| state.schema = "other/9".into(), "\"other/9\"");
}

#[test]
fn changed_files_are_refused_and_a_missing_batch_file_is_not() {
    let (place, dir, state) = place();
    state.check_inputs().unwrap();
    fs::write(place.path().join("own.toml"), "another plan").unwrap();
    let message = state.check_inputs().unwrap_err().to_string();
    assert!(
        message.contains("own.toml has changed since the batch began"),
        "{message}"
    );
    fs::write(place.path().join("own.toml"), "a plan").unwrap();
    fs::write(&state.file, "plans = []").unwrap();
    assert!(matches!(state.check_inputs(), Err(Error::Changed { .. })));
    fs::remove_file(&state.file).unwrap();
    state.check_inputs().unwrap();
    assert!(State::load(&dir).is_ok());
}

#[test]
fn a_folder_in_use_is_refused() {
    let (place, dir, _) = place();
    assert!(matches!(create(&dir), Err(Error::NotEmpty { .. })));
    let _held = lock(&dir).unwrap();
    assert!(matches!(lock(&dir), Err(Error::Busy { .. })));
    let nowhere = place.path().join("nowhere");
    assert!(matches!(lock(&nowhere), Err(Error::Missing { .. })));
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,200}") {
        let _ = State::parse(&text);
    }
}
