//! Traffic: sessions that begin, their steps, and the calls of a recorded trace.

use super::calendar::Event;
use super::call::Session;
use super::chance::{Purpose, Stream};
use super::clock::{Micros, NEVER, micros_of_s};
use super::fleet::Fleet;
use super::prompt::{OwnChunks, Prompt};
use crate::blueprint::{Part, PartId};
use bevy::prelude::Entity;
use smallvec::SmallVec;

impl Fleet<'_, '_> {
    /// A session begins, and the next one of its source is entered into the calendar.
    pub fn session_arrives(&mut self, traffic: Entity, generation: u32) -> bool {
        let Ok((_, mut state, _)) = self.traffics.get_mut(traffic) else { return false };
        if state.generation != generation {
            return false;
        }
        let source = state.number;
        state.next = self.clock.after(state.draw_gap());
        self.calendar.at(state.next, Event::SessionArrives { traffic, generation });

        let settings = state.settings.clone();
        // A prefix of no tokens is none.
        let shared = state.shared.chance(settings.shared) && settings.shared_tokens > 0;
        let member = state.sessions;
        state.sessions += 1;
        let number = self.tally.sessions;
        self.tally.sessions += 1;

        let Some(entity) = self.pool.sessions.pop() else { return false };
        let Ok(mut session) = self.sessions.get_mut(entity) else { return false };
        *session = Session {
            number,
            traffic,
            shared: shared.then_some((source as u32, settings.shared_tokens)),
            own: OwnChunks {
                base: if shared { settings.base_tokens } else { settings.unshared_base_tokens },
                input: settings.input_tokens,
                output: settings.output_tokens,
            },
            steps: settings.steps,
            step: 0,
            think_s: settings.think_s,
            timeout: patience(settings.timeout_s),
            thinking: Stream::of_member(self.clock.seed, Purpose::Think, source, member),
            started: self.clock.now,
            counted: self.clock.now >= self.clock.warmup,
            homes: SmallVec::new(),
        };
        self.step_due(entity);
        true
    }

    /// A session sends the call of its next step.
    pub fn step_due(&mut self, entity: Entity) {
        let Ok(mut session) = self.sessions.get_mut(entity) else { return };
        session.step += 1;
        let prompt = Prompt::Session(session.prompt());
        let (output, timeout) = (session.own.output, session.timeout);
        let Ok((seat, _, mut onward)) = self.traffics.get_mut(session.traffic) else { return };
        let (source, to) = (seat.0, onward.next_in_turn());
        self.send(source, to, Some(entity), prompt, output, timeout);
    }

    /// A session's call was answered: it thinks, or its task is done.
    pub fn step_answered(&mut self, entity: Entity) {
        let Ok(mut session) = self.sessions.get_mut(entity) else { return };
        if session.step < session.steps {
            let mean = session.think_s;
            let due = self.clock.after(session.thinking.exponential_time(mean));
            self.calendar.at(due, Event::StepDue { session: entity });
        } else {
            self.end_session(entity, true);
        }
    }

    /// A session's task is done or has failed.
    pub fn end_session(&mut self, entity: Entity, done: bool) {
        let Ok(session) = self.sessions.get(entity) else { return };
        if session.counted {
            match done {
                true => self.tally.task.record(self.clock.now - session.started),
                false => self.tally.tasks_failed += 1,
            }
        }
        self.pool.sessions.push(entity);
    }

    /// The next call of the recorded trace is sent, and the one after it entered into the calendar.
    pub fn recorded_due(&mut self) {
        let Some(call) = self.recording.take_next() else { return };
        if let Some(time) = self.recording.next_time() {
            self.calendar.at(time, Event::RecordedDue);
        }
        let to = self.recording.onward.next_in_turn();
        let prompt = Prompt::Recorded { blocks: call.blocks, tokens: call.prompt_tokens };
        self.send(PartId::new(Part::Traffic, 0), to, None, prompt, call.output_tokens, NEVER);
    }
}

/// How long a client waits: for ever, if the setting is 0.
fn patience(timeout_s: f64) -> Micros {
    if timeout_s > 0.0 { micros_of_s(timeout_s).max(1) } else { NEVER }
}
