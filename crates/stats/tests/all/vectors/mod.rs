//! Every vector of data/vectors.json: inputs and the outputs that an independent implementation
//! (scipy) gave. A vector that no test knows fails.

mod check;
mod comparing;
mod planning;
mod sampling;
mod timelines;

use check::Vector;

/// Whether one of the families knows the vector, and it passed.
fn passes(vector: &Vector) -> bool {
    comparing::passes(vector)
        || sampling::passes(vector)
        || timelines::passes(vector)
        || planning::passes(vector)
}

#[test]
fn every_vector_passes() {
    let vectors = check::all();
    assert_eq!(vectors.len(), 62);
    let unknown: Vec<String> =
        vectors.iter().filter(|vector| !passes(vector)).map(|vector| vector.id.clone()).collect();
    assert!(unknown.is_empty(), "no test knows {unknown:?}");
}
