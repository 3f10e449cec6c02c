//! Findings of browsers: what is believed of them is bounded, and has a summary.

/// Runs the target on an input: the findings, as text.
pub fn run(octets: &[u8]) {
    let Ok(text) = std::str::from_utf8(octets) else {
        return;
    };
    let Ok((tables, summary)) = test_page::fuzzing::browser(text) else {
        return;
    };
    assert!(tables.samples.len() <= 10_000);
    serde_json::to_string(&summary).expect("a summary can be written");
}
