//! A recorded trace: calls at their own times, without sessions.
//!
//! The format is that of the Mooncake trace release (kvcache-ai/Mooncake, FAST'25): JSON Lines, a request each, with
//! `timestamp` in milliseconds, `input_length` and `output_length` in tokens, and `hash_ids`, one for each block of 512
//! tokens of the prompt. It is read line by line, as the calls come due: what is in memory is what is in flight.

use super::clock::Micros;
use super::parts::Onward;
use super::prompt::BLOCK_TOKENS;
use bevy::prelude::Resource;
use serde::Deserialize;
use std::io::BufRead;

/// A call of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    /// When it is sent.
    pub time: Micros,
    /// The ids of the prompt's blocks.
    pub blocks: Box<[u64]>,
    /// The tokens of the prompt.
    pub prompt_tokens: u64,
    /// The tokens of the answer.
    pub output_tokens: u64,
}

/// A line of a trace that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}, found {found}")]
pub struct TraceError {
    /// The number of the line, from 1.
    pub line: u64,
    /// What would have been taken.
    pub expected: String,
    /// What was there instead.
    pub found: String,
}

/// The calls of a trace in order.
pub type Calls = Box<dyn Iterator<Item = Result<RecordedCall, TraceError>> + Send + Sync>;

/// The longest line that is read, in bytes: enough for a prompt of ten million tokens.
const LONGEST_LINE: u64 = 1 << 20;
/// The most tokens of a prompt or of an answer, as in a session.
const MOST_TOKENS: u64 = 10_000_000;
/// The latest timestamp in milliseconds.
const LATEST_MS: u64 = 10_000_000_000;

#[derive(Deserialize)]
struct Line {
    timestamp: u64,
    input_length: u64,
    output_length: u64,
    hash_ids: Vec<u64>,
}

/// Reads the calls of a trace from Mooncake's JSON Lines, one at a time. After an error there is nothing more.
pub struct TraceReader<R> {
    lines: R,
    text: Vec<u8>,
    number: u64,
    latest_ms: u64,
    ended: bool,
}

impl<R: BufRead> TraceReader<R> {
    /// A reader at the start of a trace.
    pub fn new(lines: R) -> Self {
        Self { lines, text: Vec::new(), number: 0, latest_ms: 0, ended: false }
    }

    fn error(&self, expected: impl Into<String>, found: impl Into<String>) -> TraceError {
        TraceError { line: self.number, expected: expected.into(), found: found.into() }
    }

    fn read(&mut self) -> Result<Option<RecordedCall>, TraceError> {
        loop {
            self.text.clear();
            self.number += 1;
            let read = std::io::Read::take(&mut self.lines, LONGEST_LINE + 1).read_until(b'\n', &mut self.text);
            let length = read.map_err(|error| self.error("a line of text", error.to_string()))?;
            if length == 0 {
                return Ok(None);
            }
            if length as u64 > LONGEST_LINE {
                return Err(self.error(format!("a line of at most {LONGEST_LINE} bytes"), "a longer one"));
            }
            if !self.text.trim_ascii().is_empty() {
                return self.parse().map(Some);
            }
        }
    }

    fn parse(&mut self) -> Result<RecordedCall, TraceError> {
        let line: Line = serde_json::from_slice(self.text.trim_ascii()).map_err(|error| {
            // serde_json counts lines within the text it was given, which is one.
            let found = error.to_string().replace(" at line 1 column", " at column");
            self.error("an object with timestamp, input_length, output_length and hash_ids", found)
        })?;
        let Line { timestamp, input_length, output_length, hash_ids } = line;
        let blocks = input_length.div_ceil(BLOCK_TOKENS);
        if timestamp > LATEST_MS {
            Err(self.error(format!("a timestamp of at most {LATEST_MS} ms"), timestamp.to_string()))
        } else if timestamp < self.latest_ms {
            let expected = format!("a timestamp of at least {} ms, that of the line before", self.latest_ms);
            Err(self.error(expected, timestamp.to_string()))
        } else if !(1..=MOST_TOKENS).contains(&input_length) {
            Err(self.error(format!("an input_length from 1 to {MOST_TOKENS}"), input_length.to_string()))
        } else if output_length > MOST_TOKENS {
            Err(self.error(format!("an output_length from 0 to {MOST_TOKENS}"), output_length.to_string()))
        } else if blocks != hash_ids.len() as u64 {
            let expected = format!("{blocks} hash_ids for {input_length} tokens in blocks of {BLOCK_TOKENS}");
            Err(self.error(expected, hash_ids.len().to_string()))
        } else {
            self.latest_ms = timestamp;
            Ok(RecordedCall {
                time: timestamp * 1_000,
                blocks: hash_ids.into(),
                prompt_tokens: input_length,
                output_tokens: output_length,
            })
        }
    }
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<RecordedCall, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let item = self.read().transpose();
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}

/// The recorded trace of a run, if it has one.
#[derive(Resource, Default)]
pub struct Recording {
    calls: Option<Calls>,
    next: Option<RecordedCall>,
    error: Option<TraceError>,
    recorded: bool,
    /// The parts that its calls go to.
    pub onward: Onward,
}

impl Recording {
    /// These calls.
    pub fn new(calls: Calls) -> Self {
        let mut recording = Self { calls: Some(calls), recorded: true, ..Self::default() };
        recording.read_next();
        recording
    }

    fn read_next(&mut self) {
        self.next = match self.calls.as_mut().and_then(Iterator::next) {
            Some(Ok(call)) => Some(call),
            Some(Err(error)) => {
                self.error = Some(error);
                None
            }
            None => None,
        };
        if self.next.is_none() {
            self.calls = None;
        }
    }

    /// When the next call is due.
    pub fn next_time(&self) -> Option<Micros> {
        self.next.as_ref().map(|call| call.time)
    }

    /// Takes the call that is due, and reads the one after it.
    pub fn take_next(&mut self) -> Option<RecordedCall> {
        let call = self.next.take();
        self.read_next();
        call
    }

    /// Is there a trace, and are all its calls sent?
    pub fn is_over(&self) -> bool {
        self.recorded && self.next.is_none()
    }

    /// Was a line wrong?
    pub fn failed(&self) -> bool {
        self.error.is_some()
    }

    /// The line that was wrong.
    pub fn error(&self) -> Option<&TraceError> {
        self.error.as_ref()
    }
}
