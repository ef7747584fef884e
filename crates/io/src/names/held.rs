//! Which spelt names a run has made and has not removed: these alone are its own to remove.
//!
//! A name of that spelling which another has made meanwhile looks the same from outside.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A form of names, and the worker whose names they are.
type Key = (String, u32);

/// The names that all workers have made and not removed, by form and worker.
#[derive(Debug, Clone, Default)]
pub struct Held(Arc<Mutex<BTreeMap<Key, Range<u32>>>>);

impl Held {
    fn all(&self) -> MutexGuard<'_, BTreeMap<Key, Range<u32>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the run has made this name and not removed it.
    pub(crate) fn has(&self, form: &str, worker: u32, name: u32) -> bool {
        let all = self.all();
        all.get(&key(form, worker)).is_some_and(|names| names.contains(&name))
    }
}

fn key(form: &str, worker: u32) -> Key {
    (form.to_owned(), if form.contains("{worker}") { worker } else { 0 })
}

/// What one worker does to names of one form, told to all when it ends: within a measurement it
/// costs a number.
#[derive(Debug)]
pub(super) struct Noting {
    held: Held,
    key: Key,
    names: Range<u32>,
}

impl Noting {
    pub(super) fn new(held: Held, form: &str, worker: u32) -> Self {
        let key = key(form, worker);
        let names = held.all().get(&key).cloned().unwrap_or_default();
        Noting { held, key, names }
    }

    /// Names are made one after the other, from the first on.
    pub(super) fn made(&mut self, name: u32) {
        if name == 0 {
            self.names = 0..1;
        } else if name == self.names.end {
            self.names.end += 1;
        }
    }

    pub(super) fn removed(&mut self, name: u32) {
        self.names.start = self.names.start.max(name.saturating_add(1));
    }
}

impl Drop for Noting {
    fn drop(&mut self) {
        self.held.all().insert(self.key.clone(), self.names.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_and_not_removed_is_held() {
        let held = Held::default();
        let has = |name| held.has("n{worker}f{name}", 3, name);
        let noting = || Noting::new(held.clone(), "n{worker}f{name}", 3);
        let mut making = noting();
        (0..4).for_each(|name| making.made(name));
        // The fifth was there already; the sixth was not tried.
        making.made(5);
        assert!(!has(0), "a worker tells it when it ends");
        drop(making);
        assert_eq!((0..7).filter(|name| has(*name)).count(), 4);
        assert!(!held.has("n{worker}f{name}", 2, 0) && !held.has("f{name}", 3, 0));
        let mut removing = noting();
        (0..2).for_each(|name| removing.removed(name));
        drop(removing);
        assert_eq!((0..7).filter(|name| has(*name)).collect::<Vec<_>>(), [2, 3]);
        let mut again = noting();
        again.made(0);
        drop(again);
        assert_eq!((0..7).filter(|name| has(*name)).collect::<Vec<_>>(), [0]);
        drop(Noting::new(held.clone(), "all", 7));
        let mut one = Noting::new(held.clone(), "one", 7);
        one.made(0);
        drop(one);
        assert!(held.has("one", 0, 0) && !held.has("all", 0, 0));
    }
}
