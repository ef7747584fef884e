//! A swarm over studies: a seed draws a drive and a command, the real program runs it, and every
//! sentence that can be decided is compared with what the inside knows.
#![allow(dead_code, reason = "a test and a bench use their own parts")]

pub mod case;
pub mod cliff;
pub mod compared;
pub mod criterion;
pub mod drive;
pub mod ends;
pub mod grade;
pub mod intervals;
pub mod judged;
pub mod load;
pub mod numbers;
pub mod pieces;
pub mod ram;
pub mod replay;
pub mod settled;
pub mod suspects;
pub mod table;
pub mod trim;
pub mod wear;

use case::{Case, Place, Said};
use judged::{Class, Judged};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A case and what became of it.
pub struct Tried {
    pub case: Case,
    /// It was refused, so that only the refusal is judged.
    pub is_refused: bool,
    pub status: Option<i32>,
    pub judged: Vec<Judged>,
    pub took: Duration,
}

/// Runs and judges a case.
pub fn tried(case: Case) -> Tried {
    let begin = Instant::now();
    let place = Place::of(&case.drive);
    let said = Said::of(&case, &place);
    let mut judged = Vec::new();
    ends::judge(&case, &said, &mut judged);
    let is_refused = ends::is_refused(&said);
    if !is_refused {
        numbers::judge(&said, &mut judged);
        suspects::judge(&case, &said, &mut judged);
        trim::judge(&case, &said, &mut judged);
        cliff::judge(&case, &said, &mut judged);
        settled::judge(&case, &said, &mut judged);
        grade::judge(&case, &said, &mut judged);
        criterion::judge(&case, &said, &mut judged);
        wear::judge(&case, &said, &mut judged);
        ram::judge(&case, &said, &mut judged);
        load::judge(&case, &said, &mut judged);
        pieces::judge(&case, &said, &mut judged);
        beside_others(&case, &said, &mut judged);
    }
    Tried { case, is_refused, status: said.status, judged, took: begin.elapsed() }
}

/// A case is done again so often, and more often where that leaves a doubt; unless it took longer
/// than this.
const AGAIN: [u64; 2] = [3, 6];
const SLOW: Duration = Duration::from_secs(6);

/// What is compared with the same line with other seeds.
fn beside_others(case: &Case, said: &Said, judged: &mut Vec<Judged>) {
    let Some(json) = said.json.as_ref().filter(|_| said.took <= SLOW) else { return };
    intervals::judge(case, said, judged);
    if !compared::is_there(json) {
        return;
    }
    let mut others = Vec::new();
    let mut found = Vec::new();
    for again in AGAIN {
        let numbers = others.len() as u64..again;
        let more = numbers.filter_map(|number| case.reseeded(number));
        others
            .extend(more.filter_map(|other| Said::json_of(&other, &Place::of(&other.drive)).json));
        found.clear();
        compared::judge(json, &others, &mut found);
        if !found.iter().any(|it| matches!(it.class, Class::Wrong | Class::Tellable)) {
            break;
        }
    }
    judged.append(&mut found);
}

/// Tries these cases, two at a time, until the time is over; `see` hears of each.
pub fn swarm(cases: &[Case], limit: Duration, see: impl Fn(&Tried) + Sync) -> Vec<Tried> {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while begin.elapsed() < limit
                    && let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let tried = tried(case.clone());
                    see(&tried);
                    all.lock().expect("all").push(tried);
                }
            });
        }
    });
    let mut all = all.into_inner().expect("all");
    all.sort_by_key(|tried| tried.case.seed);
    all
}
