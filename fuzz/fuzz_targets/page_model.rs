//! A page model, as a file or as a client tells it: read and sound, or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    if let Ok(text) = std::str::from_utf8(octets) {
        let _ = web::PageModel::parse(text, "page.toml");
    }
    if let Ok(model) = serde_json::from_slice::<web::PageModel>(octets) {
        // What is taken can be told again.
        let told = serde_json::to_vec(&model).expect("a model is JSON");
        assert!(serde_json::from_slice::<web::PageModel>(&told).is_ok());
    }
});
