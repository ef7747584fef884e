//! placeholder
/// placeholder
#[derive(Debug)]
pub struct Driver;
