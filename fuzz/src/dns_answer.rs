//! A query for the names of pages, as strangers send it: never a panic, never an answer longer than the question.

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let mut answer = Vec::new();
    if web::dns::looks_like_query(octets) {
        let local = [10, 0, 0, 1].into();
        web::dns::answer(octets, |token| token % 2 == 0, local, &mut answer);
        assert!(answer.len() <= octets.len());
    }
}
