//! A page model, as a file or as a client tells it: read and sound, or refused.

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    if let Ok(text) = std::str::from_utf8(octets) {
        let _ = web::PageModel::parse(text, "page.toml");
    }
    if let Ok(model) = serde_json::from_slice::<web::PageModel>(octets) {
        // What is taken can be told again.
        let told = serde_json::to_vec(&model).expect("a model is JSON");
        assert!(serde_json::from_slice::<web::PageModel>(&told).is_ok());
    }
}
