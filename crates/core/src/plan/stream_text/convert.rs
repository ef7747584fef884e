//! What the keys of a stream mean together, and back.
//!
//! A key that the stream's order of addresses, or its way of arriving, does not read would be
//! ignored silently: it is refused here, so that beyond here it cannot exist.

use super::StreamText;
use crate::plan::{
    Arrival, Files, Jump, Names, Pattern, PatternName, Sequence, Stream, Think, Zoned,
};
use crate::units::Size;
use std::fmt;

/// Keys of a stream that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The key that is wrong.
    pub key: &'static str,
    /// What is wrong and what to do, in one sentence.
    pub text: String,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Contradiction {}

impl StreamText {
    /// What a table without any key means.
    pub fn absent() -> Self {
        StreamText::from(Stream::default())
    }
}

fn refuse(key: &'static str, text: impl Into<String>) -> Result<(), Contradiction> {
    Err(Contradiction { key, text: text.into() })
}

impl TryFrom<StreamText> for Stream {
    type Error = Contradiction;

    fn try_from(mut text: StreamText) -> Result<Self, Contradiction> {
        keys_belong(&text)?;
        let arrival = arrival_of(&text)?;
        let pattern = pattern_of(&mut text)?;
        let zoned = zoned_of(&text)?;
        Ok(Stream {
            pattern,
            arrival,
            name: text.name,
            engine: text.engine,
            io: text.io,
            sync: text.sync,
            sync_timing: text.sync_timing,
            mix: text.mix,
            writes_in_order: text.writes_in_order,
            keep_requests: text.keep_requests,
            keep_completion: text.keep_completion,
            reply: text.reply,
            reply_size: text.reply_size,
            reply_after: text.reply_after,
            size: text.size,
            sizes: text.sizes,
            align: text.align,
            shift: text.shift,
            offset: text.offset,
            length: text.length,
            zoned,
            window: text.window,
            zone_append: text.zone_append,
            regions: text.regions,
            files: text.files,
            depth: text.depth,
            workers: text.workers,
            flow: text.flow,
            batch_submit: text.batch_submit,
            batch_complete: text.batch_complete,
            sqpoll: text.sqpoll,
            iopoll: text.iopoll,
            advise: text.advise,
            drop_cached_each_pass: text.drop_cached_each_pass,
            unregistered: text.unregistered,
            atomic: text.atomic,
            thread: text.thread,
            request_priorities: text.request_priorities,
            content: text.content,
            data: text.data,
            dedupe: text.dedupe,
            stamp: text.stamp,
            verify: text.verify,
            read_back: text.read_back,
            pass: text.pass,
            until: text.until,
            first_file: text.first_file,
            files_in_turn: text.files_in_turn,
            order: text.order,
            offset_each: text.offset_each,
            neighbour: text.neighbour,
            trim_first: text.trim_first,
            background: text.background,
            start_after: text.start_after,
            gap_over: text.gap_over,
        })
    }
}

/// Each key of one order of addresses, whether it was given, and its order.
fn owners(text: &StreamText) -> [(&'static str, bool, PatternName); 23] {
    use PatternName as P;
    [
        ("stride", text.stride.is_some(), P::Sequential),
        ("begin", text.begin.is_some(), P::Sequential),
        ("restart", text.restart, P::Sequential),
        ("each_kind_in_order", text.each_kind_in_order, P::Sequential),
        ("share", text.share.is_some(), P::SemiRandom),
        ("shares", text.shares.is_some(), P::SemiRandom),
        ("run", text.run.is_some(), P::SemiRandom),
        ("theta", text.theta.is_some(), P::Zipf),
        ("skew", text.skew.is_some(), P::SelfSimilar),
        ("plateau", text.plateau.is_some(), P::Bell),
        ("zones", !text.zones.is_empty(), P::HotZones),
        ("block", text.block.is_some(), P::Segments),
        ("segments", text.segments.is_some(), P::Segments),
        ("offsets", !text.offsets.is_empty(), P::Replay),
        ("requests", !text.requests.is_empty(), P::Trace),
        ("pace", text.pace.is_some(), P::Trace),
        ("actions", !text.actions.is_empty(), P::Names),
        ("names", text.names.is_some(), P::Names),
        ("directories", text.directories != Files::One, P::Names),
        ("form", text.form.is_some(), P::Names),
        ("of_directories", text.of_directories, P::Names),
        ("name_bytes", text.name_bytes.0 > 0, P::Names),
        ("existing", text.existing, P::Names),
    ]
}

fn keys_belong(text: &StreamText) -> Result<(), Contradiction> {
    for (key, is_given, owner) in owners(text) {
        if is_given && text.pattern != owner {
            let (mine, theirs) = (text.pattern.word(), owner.word());
            refuse(
                key,
                format!(
                    "`{key}` belongs to pattern {theirs}, and this is {mine}; drop one of them"
                ),
            )?;
        }
    }
    Ok(())
}

fn pattern_of(text: &mut StreamText) -> Result<Pattern, Contradiction> {
    let take = std::mem::take::<Vec<Size>>;
    Ok(match text.pattern {
        PatternName::Sequential => Pattern::Sequential(Sequence {
            stride: text.stride,
            begin: text.begin,
            restart: text.restart,
            each_kind_in_order: text.each_kind_in_order,
        }),
        PatternName::Uniform => Pattern::Uniform,
        PatternName::Permutation => Pattern::Permutation,
        PatternName::RandomMap => Pattern::RandomMap,
        PatternName::SemiRandom => Pattern::SemiRandom(match (text.share, text.run, text.shares) {
            (share, None, None) => Jump::Share(share),
            (None, None, Some(shares)) => Jump::Shares(shares),
            (None, Some(run), None) if run > 0 => Jump::Run(run),
            _ => {
                return Err(Contradiction {
                    key: "run",
                    text:
                        "`run` counts operations, and stands instead of `share` and `shares`; use \
                           1 or more of it alone"
                            .into(),
                });
            }
        }),
        PatternName::Zipf => Pattern::Zipf { theta: text.theta },
        PatternName::SelfSimilar => Pattern::SelfSimilar { skew: text.skew },
        PatternName::Bell => Pattern::Bell { plateau: text.plateau },
        PatternName::HotZones => Pattern::HotZones(std::mem::take(&mut text.zones)),
        PatternName::Segments => match text.block {
            Some(block) => Pattern::Segments { block, segments: text.segments },
            None => {
                let text = "pattern segments needs `block`; add it".to_string();
                return Err(Contradiction { key: "block", text });
            }
        },
        PatternName::Replay => Pattern::Replay(take(&mut text.offsets)),
        PatternName::Trace => Pattern::Trace(std::mem::take(&mut text.requests)),
        PatternName::Names => Pattern::Names(Names {
            actions: std::mem::take(&mut text.actions),
            names: text.names,
            directories: text.directories,
            form: text.form.take(),
            of_directories: text.of_directories,
            name_bytes: text.name_bytes,
            existing: text.existing,
        }),
    })
}

fn arrival_of(text: &StreamText) -> Result<Arrival, Contradiction> {
    let is_thinking = text.burst.is_some() || text.think.0 > 0 || text.think_first;
    if text.pace.is_some() && (text.rate.is_some() || is_thinking) {
        refuse(
            "pace",
            "the times of a trace leave no room for rate, burst and think time; use one",
        )?;
    }
    if text.rate.is_some() && is_thinking {
        refuse(
            "rate",
            "a rate is an open loop, burst and think time are a closed one; use one of them",
        )?;
    }
    if text.poisson && text.rate.is_none() {
        refuse("poisson", "Poisson arrivals need a rate; add one")?;
    }
    if text.think_first && text.think.0 == 0 {
        refuse("think_first", "think_first needs a think time; add one")?;
    }
    let think = Think { time: text.think, first: text.think_first };
    Ok(match (text.rate, text.pace) {
        (Some(rate), _) => Arrival::Open { rate, poisson: text.poisson },
        (None, Some(pace)) => Arrival::Trace { pace },
        (None, None) => {
            Arrival::Closed { burst: text.burst, think: (text.think.0 > 0).then_some(think) }
        }
    })
}

fn zoned_of(text: &StreamText) -> Result<Option<Zoned>, Contradiction> {
    let Some(size) = text.zone_size else {
        let stray = [
            ("zone_capacity", text.zone_capacity.is_some()),
            ("zone_finish_after", text.zone_finish_after.is_some()),
        ];
        return match stray.into_iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => {
                refuse(key, format!("{key} is of the zones of a drive; add zone_size"))
                    .map(|()| None)
            }
            None => Ok(None),
        };
    };
    let (capacity, finish_after) = (text.zone_capacity, text.zone_finish_after);
    Ok(Some(Zoned { size, capacity, finish_after }))
}

impl From<Stream> for StreamText {
    fn from(stream: Stream) -> Self {
        let mut text = StreamText::of_any_order(&stream);
        text.write_pattern(stream.pattern);
        text.write_arrival(&stream.arrival);
        text
    }
}

impl StreamText {
    /// What a stream has whatever its order and its arrival.
    fn of_any_order(stream: &Stream) -> Self {
        StreamText {
            pattern: stream.pattern.name(),
            name: stream.name.clone(),
            engine: stream.engine,
            io: stream.io,
            sync: stream.sync,
            sync_timing: stream.sync_timing,
            mix: stream.mix,
            writes_in_order: stream.writes_in_order,
            keep_requests: stream.keep_requests,
            keep_completion: stream.keep_completion,
            reply: stream.reply,
            reply_size: stream.reply_size,
            reply_after: stream.reply_after,
            size: stream.size,
            sizes: stream.sizes.clone(),
            align: stream.align,
            shift: stream.shift,
            offset: stream.offset,
            length: stream.length,
            window: stream.window,
            zone_size: stream.zoned.map(|zoned| zoned.size),
            zone_capacity: stream.zoned.and_then(|zoned| zoned.capacity),
            zone_finish_after: stream.zoned.and_then(|zoned| zoned.finish_after),
            zone_append: stream.zone_append,
            regions: stream.regions,
            files: stream.files,
            depth: stream.depth,
            workers: stream.workers,
            flow: stream.flow,
            batch_submit: stream.batch_submit,
            batch_complete: stream.batch_complete,
            sqpoll: stream.sqpoll,
            iopoll: stream.iopoll,
            advise: stream.advise,
            drop_cached_each_pass: stream.drop_cached_each_pass,
            unregistered: stream.unregistered,
            atomic: stream.atomic,
            thread: stream.thread.clone(),
            request_priorities: stream.request_priorities.clone(),
            content: stream.content,
            data: stream.data.clone(),
            dedupe: stream.dedupe,
            stamp: stream.stamp,
            verify: stream.verify,
            read_back: stream.read_back,
            pass: stream.pass,
            until: stream.until.clone(),
            first_file: stream.first_file,
            files_in_turn: stream.files_in_turn,
            order: stream.order,
            offset_each: stream.offset_each,
            neighbour: stream.neighbour,
            trim_first: stream.trim_first,
            background: stream.background,
            start_after: stream.start_after,
            gap_over: stream.gap_over,
            ..StreamText::default()
        }
    }

    fn write_pattern(&mut self, pattern: Pattern) {
        match pattern {
            Pattern::Sequential(sequence) => {
                (self.stride, self.begin) = (sequence.stride, sequence.begin);
                self.restart = sequence.restart;
                self.each_kind_in_order = sequence.each_kind_in_order;
            }
            Pattern::Uniform | Pattern::Permutation | Pattern::RandomMap => {}
            Pattern::SemiRandom(Jump::Share(share)) => self.share = share,
            Pattern::SemiRandom(Jump::Shares(shares)) => self.shares = Some(shares),
            Pattern::SemiRandom(Jump::Run(run)) => self.run = Some(run),
            Pattern::Zipf { theta } => self.theta = theta,
            Pattern::SelfSimilar { skew } => self.skew = skew,
            Pattern::Bell { plateau } => self.plateau = plateau,
            Pattern::HotZones(zones) => self.zones = zones,
            Pattern::Segments { block, segments } => {
                (self.block, self.segments) = (Some(block), segments);
            }
            Pattern::Replay(offsets) => self.offsets = offsets,
            Pattern::Trace(requests) => self.requests = requests,
            Pattern::Names(names) => {
                (self.actions, self.names) = (names.actions, names.names);
                (self.directories, self.form) = (names.directories, names.form);
                (self.of_directories, self.name_bytes) = (names.of_directories, names.name_bytes);
                self.existing = names.existing;
            }
        }
    }

    fn write_arrival(&mut self, arrival: &Arrival) {
        match *arrival {
            Arrival::Closed { burst, think } => {
                self.burst = burst;
                if let Some(think) = think {
                    (self.think, self.think_first) = (think.time, think.first);
                }
            }
            Arrival::Open { rate, poisson } => (self.rate, self.poisson) = (Some(rate), poisson),
            Arrival::Trace { pace } => self.pace = Some(pace),
        }
    }
}

#[cfg(test)]
mod tests;
