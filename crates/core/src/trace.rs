//! What the kernel's tracer writes of block devices, read without knowing its layouts beforehand.
//!
//! Events change from kernel to kernel, so each one is read by its own `format` file. Nothing here
//! opens anything: bytes and texts come in, events go out. Layouts: kernel documents
//! `Documentation/trace/ftrace.rst` and `trace/ring-buffer-design.rst`.

pub mod anatomy;

pub mod block;
pub mod format;
pub mod page;
pub mod served;
pub mod stages;

#[cfg(test)]
pub(crate) mod tests;
