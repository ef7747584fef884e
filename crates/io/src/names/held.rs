//! Which spelt names a run has made and has not removed: these alone are its own to remove.
//!
//! A name of that spelling which another has made meanwhile looks the same from outside.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A form of names, and the worker whose names they are.
type Key = (String, u32);

/// The names that all workers have made and not removed, by form and worker.
#[derive(Debug, Clone, Default)]
pub struct Held(Arc<Mutex<BTreeMap<Key, Arc<Numbers>>>>);

/// Those from one number up to another.
#[derive(Debug, Default)]
struct Numbers {
    from: AtomicU32,
    to: AtomicU32,
}

impl Held {
    fn all(&self) -> MutexGuard<'_, BTreeMap<Key, Arc<Numbers>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the run has made this name and not removed it.
    pub(crate) fn has(&self, form: &str, worker: u32, name: u32) -> bool {
        let numbers = self.all().get(&key(form, worker)).cloned();
        numbers.is_some_and(|numbers| {
            let (from, to) = (&numbers.from, &numbers.to);
            (from.load(Ordering::Acquire)..to.load(Ordering::Acquire)).contains(&name)
        })
    }
}

fn key(form: &str, worker: u32) -> Key {
    (form.to_owned(), if form.contains("{worker}") { worker } else { 0 })
}

/// What one worker does to names of one form. It is known at once, also of a worker that hangs.
#[derive(Debug)]
pub(super) struct Noting(Arc<Numbers>);

impl Noting {
    pub(super) fn new(held: &Held, form: &str, worker: u32) -> Self {
        Noting(held.all().entry(key(form, worker)).or_default().clone())
    }

    /// Names are made one after the other, from the first on.
    pub(super) fn made(&self, name: u32) {
        let Numbers { from, to } = &*self.0;
        if name == 0 {
            to.store(1, Ordering::Release);
            from.store(0, Ordering::Release);
        } else if name == to.load(Ordering::Relaxed) {
            to.store(name.saturating_add(1), Ordering::Release);
        }
    }

    pub(super) fn removed(&self, name: u32) {
        self.0.from.fetch_max(name.saturating_add(1), Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_and_not_removed_is_held() {
        let held = Held::default();
        let form = "n{worker}f{name}";
        let list = || (0..7).filter(|name| held.has(form, 3, *name)).collect::<Vec<_>>();
        let making = Noting::new(&held, form, 3);
        (0..4).for_each(|name| making.made(name));
        // The fifth was there already.
        making.made(5);
        assert_eq!(list(), [0, 1, 2, 3]);
        assert!(!held.has(form, 2, 0) && !held.has("f{name}", 3, 0));
        let removing = Noting::new(&held, form, 3);
        (0..2).for_each(|name| removing.removed(name));
        assert_eq!(list(), [2, 3]);
        making.made(0);
        assert_eq!(list(), [0], "made again, of an earlier pass nothing is left");
        Noting::new(&held, "one", 7).made(0);
        assert!(held.has("one", 0, 0) && held.has("one", 5, 0) && !held.has("all", 0, 0));
    }
}
