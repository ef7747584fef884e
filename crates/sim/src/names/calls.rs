//! One call from its beginning to its end: the lock of its directory, blocks, the CPU.

use super::directory::Blocks;
use super::spelling::{Owner, scratch_name};
use super::tree::Spelt;
use super::{Named, Request};
use crate::drive::{End, Ticket};
use drivelab_core::inside::Cause;
use drivelab_core::op::{Action, Errno, NameOp, Time};
use std::collections::{BTreeMap, VecDeque};

/// A call.
#[derive(Debug, Clone, Default)]
pub(super) struct Call {
    pub op: NameOp,
    reader: u32,
    name: Option<Spelt>,
    /// What a rename gives another name.
    old: Option<Spelt>,
    /// What it needs, and what it changes.
    pub blocks: Blocks,
    /// How many of those it has looked at.
    looked_at: usize,
    /// The directory whose lock it holds.
    lock: Option<u32>,
    freed: Vec<u64>,
    /// Blocks of content that it writes.
    pub content: Vec<u64>,
    /// What it waited for last.
    pub cause: Cause,
    /// Writes of its fsync in flight.
    pub writes: u32,
    /// The transaction that must be committed.
    pub transaction: Option<u64>,
}

/// Which call changes a directory, and which come next.
#[derive(Debug, Default)]
pub(super) struct Locks {
    held: BTreeMap<u32, VecDeque<Ticket>>,
}

impl Locks {
    /// Whether it is free, and now held; else the call comes to its turn.
    fn take(&mut self, directory: u32, ticket: Ticket) -> bool {
        match self.held.get_mut(&directory) {
            Some(queue) => {
                queue.push_back(ticket);
                false
            }
            None => {
                self.held.insert(directory, VecDeque::new());
                true
            }
        }
    }

    /// Who holds it next.
    fn release(&mut self, directory: u32) -> Option<Ticket> {
        let next = self.held.get_mut(&directory).and_then(VecDeque::pop_front);
        if next.is_none() {
            self.held.remove(&directory);
        }
        next
    }
}

impl Named {
    /// A worker begins: its directory and the names that must be there are there, and at their
    /// places.
    pub(super) fn open(&mut self, reader: u32, owner: Owner) {
        if let Some(number) = owner.scratch() {
            self.there(scratch_name(number).as_bytes(), true);
        }
        for name in 0..owner.beforehand {
            let mut path = std::mem::take(&mut self.path);
            owner.path(&NameOp::new(Action::Create, name), false, &mut path);
            self.there(&path, false);
            self.path = path;
        }
        self.owners.insert(reader, owner);
    }

    pub(super) fn there(&mut self, path: &[u8], is_directory: bool) {
        let Ok(name) = self.tree.spelt(path) else { return };
        let mut blocks = Blocks::default();
        // What is there already stays.
        let _ = self.tree.make(name, is_directory, 0, &mut blocks);
        for block in blocks.changed {
            self.cache.take_in(block);
        }
    }

    pub(super) fn begin(&mut self, now: Time, ticket: Ticket, op: &NameOp, reader: u32) {
        if self.calls.len() <= ticket as usize {
            self.calls.resize_with(ticket as usize + 1, Call::default);
        }
        let mut call = Call { op: *op, reader, ..Call::default() };
        let mut path = std::mem::take(&mut self.path);
        if let Some(owner) = self.owners.get(&reader) {
            owner.path(op, false, &mut path);
            let name = self.tree.spelt(&path);
            let old = (op.action == Action::Rename).then(|| {
                owner.path(op, true, &mut path);
                self.tree.spelt(&path)
            });
            match (name, old.transpose()) {
                (Ok(name), Ok(old)) => (call.name, call.old) = (Some(name), old),
                (Err(errno), _) | (_, Err(errno)) => {
                    self.failures.insert(ticket, errno);
                }
            }
        }
        self.path = path;
        let takes =
            matches!(op.action, Action::Create | Action::Mkdir | Action::Unlink | Action::Rename);
        let lock = call.name.map(|name| name.parent);
        call.lock = lock.filter(|_| takes && self.parameters.has_locks);
        let lock = call.lock;
        self.calls[ticket as usize] = call;
        if lock.is_none_or(|directory| self.locks.take(directory, ticket)) {
            self.locked(now, ticket);
        }
    }

    /// Nobody else changes the directory. What changes something needs a place in the journal.
    pub(super) fn locked(&mut self, now: Time, ticket: Ticket) {
        let action = self.calls[ticket as usize].op.action;
        let changes = !matches!(action, Action::Open | Action::Stat | Action::Flush);
        if changes && self.parameters.has_journal && self.journal.is_short() {
            self.short.push_back(ticket);
            self.relieve(now);
            return;
        }
        self.perform(now, ticket);
    }

    pub(super) fn perform(&mut self, now: Time, ticket: Ticket) {
        let mut blocks = Blocks::default();
        match self.act(ticket, &mut blocks) {
            Ok(freed) => self.call(ticket).freed = freed,
            Err(errno) => {
                self.failures.insert(ticket, errno);
                blocks.changed.clear();
            }
        }
        // A bitmap or a table that changes must be here too, unless it was just made.
        for block in &blocks.changed {
            if !blocks.made.contains(block) && !blocks.looked_at.contains(block) {
                blocks.looked_at.push(*block);
            }
        }
        blocks.made.iter().for_each(|block| self.cache.forget(*block));
        self.call(ticket).blocks = blocks;
        self.look_on(now, ticket);
    }

    /// What the call does to the tree; the blocks that it set free.
    fn act(&mut self, ticket: Ticket, blocks: &mut Blocks) -> Result<Vec<u64>, Errno> {
        let call = &self.calls[ticket as usize];
        let (Some(name), old, action) = (call.name, call.old, call.op.action) else {
            return Ok(Vec::new());
        };
        let Some(owner) = self.owners.get(&call.reader) else { return Ok(Vec::new()) };
        let (of_directories, bytes) = (owner.of_directories, owner.bytes);
        match action {
            Action::Create => {
                self.tree.make(name, false, bytes, blocks)?;
                self.call(ticket).content = self.tree.content(name).collect();
            }
            Action::Mkdir => self.tree.make(name, true, 0, blocks)?,
            Action::Open | Action::Flush => {
                self.tree.look(name, blocks)?;
                let content = self.tree.content(name);
                match (action, bytes) {
                    (Action::Flush, _) => self.call(ticket).content = content.collect(),
                    (_, 0) => {}
                    _ => blocks.looked_at.extend(content),
                }
            }
            Action::Utime => self.tree.touch(name, blocks)?,
            Action::Rename => self.tree.rename(old.unwrap_or(name), name, blocks)?,
            Action::Unlink => return self.tree.remove(name, of_directories, blocks),
            _ => {
                self.tree.look(name, blocks)?;
            }
        }
        Ok(Vec::new())
    }

    /// The next block that it needs and that is not here is read; then the CPU does its part.
    pub(super) fn look_on(&mut self, now: Time, ticket: Ticket) {
        let index = ticket as usize;
        while let Some(block) = self.calls[index].blocks.looked_at.get(self.calls[index].looked_at)
        {
            let block = *block;
            self.calls[index].looked_at += 1;
            if self.cache.must_read(block) {
                let request = Request::Look(ticket, block);
                self.send(now, request, Action::Read, &(block..block + 1));
                return;
            }
        }
        let call = &self.calls[index];
        let (action, reader) = (call.op.action, call.reader);
        let free_at = self.free_at.entry(reader).or_insert(0);
        *free_at = now.max(*free_at) + self.parameters.cost_ns(action);
        self.busy.push(*free_at, ticket, Cause::Unknown);
    }

    /// The CPU has done its part: what has changed belongs to the running transaction.
    pub(super) fn worked(&mut self, now: Time, ticket: Ticket) {
        let call = &mut self.calls[ticket as usize];
        let (lock, freed) = (call.lock.take(), std::mem::take(&mut call.freed));
        let changed = std::mem::take(&mut call.blocks.changed);
        let (content, inode) = (call.content.clone(), call.blocks.inode);
        for block in &changed {
            let transaction = self.change(now, *block);
            self.call(ticket).transaction = transaction;
        }
        for block in freed {
            self.forget(block);
        }
        let (action, reader) =
            (self.calls[ticket as usize].op.action, self.calls[ticket as usize].reader);
        if action == Action::Create {
            content.iter().for_each(|block| self.change_content(now, *block));
        }
        self.note_change(inode, ticket);
        self.call(ticket).blocks.changed = changed;
        if let Some(next) = lock.and_then(|directory| self.locks.release(directory)) {
            self.locked(now, next);
        }
        let syncs = self.owners.get(&reader).is_some_and(|owner| owner.syncs);
        let is_sync = action == Action::Flush || syncs && action == Action::Create;
        match is_sync && !self.failures.contains_key(&ticket) {
            true => self.sync(now, ticket),
            false => self.finish(now, ticket),
        }
    }

    pub(super) fn finish(&mut self, at: Time, ticket: Ticket) {
        let cause = self.calls[ticket as usize].cause;
        self.finished.push(End { at, ticket, cause });
    }
}
