//! Every change of a fleet, to be taken back and made again: one mechanism for the canvas and the inspector.

use super::{Address, Blueprint, Board, Edit, EditError, PartId, Value};

/// At most so many changes can be taken back; the oldest are forgotten first.
const MOST: usize = 300;

/// A change that was made, in words.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A setting was set, or the number of replicas (`replicas`), or the budget (`budget`).
    Setting {
        /// Its key.
        key: String,
        /// What it was; none for no budget.
        from: Option<Value>,
        /// What it became; none for no budget.
        to: Option<Value>,
    },
    /// Parts or links came, went, or moved.
    Parts {
        /// What happened.
        what: String,
        /// Does it concern the running fleet? A card that was moved does not.
        runs: bool,
    },
}

impl Change {
    /// Does it concern the running fleet?
    pub fn runs(&self) -> bool {
        match self {
            Self::Setting { key, .. } => key != "budget",
            Self::Parts { runs, .. } => *runs,
        }
    }

    /// The same, the other way round.
    fn reversed(&self) -> Self {
        match self {
            Self::Setting { key, from, to } => Self::Setting { key: key.clone(), from: *to, to: *from },
            Self::Parts { what, runs } => Self::Parts { what: format!("undone: {what}"), runs: *runs },
        }
    }
}

/// A board with what was done to it.
#[derive(Clone, Debug)]
pub struct History {
    board: Board,
    /// The boards before each change, oldest first, with the change.
    past: Vec<(Board, Change)>,
    /// The boards after each change that was taken back, the one to be made next last.
    future: Vec<(Board, Change)>,
}

/// What came of a change.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The board before.
    pub before: Board,
    /// The change.
    pub change: Change,
    /// The parts that it was about, where they now are.
    pub about: Vec<PartId>,
}

impl History {
    /// Nothing was done yet.
    pub fn new(board: Board) -> Self {
        Self { board, past: Vec::new(), future: Vec::new() }
    }

    /// The board as it is.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The fleet as it is.
    pub fn blueprint(&self) -> &Blueprint {
        self.board.blueprint()
    }

    /// The change that would be taken back.
    pub fn undoable(&self) -> Option<&Change> {
        self.past.last().map(|(_, change)| change)
    }

    /// The change that would be made again.
    pub fn redoable(&self) -> Option<&Change> {
        self.future.last().map(|(_, change)| change)
    }

    /// Makes a change if `admits` takes what comes of it. With `same` it goes on with the last one if that was of the same
    /// kind: a slider on its way, a card that is pushed along, are one change. None if nothing is different then.
    ///
    /// # Errors
    /// As [`Board::edit`] and `admits`; the board is then as it was.
    pub fn edit(
        &mut self,
        edit: &Edit,
        same: bool,
        admits: impl FnOnce(&Board) -> Result<(), EditError>,
    ) -> Result<Option<Outcome>, EditError> {
        let mut board = self.board.clone();
        let about = board.edit(edit)?;
        admits(&board)?;
        if board == self.board {
            return Ok(None);
        }
        let change = describe(edit, &self.board, board.blueprint(), &about);
        let before = std::mem::replace(&mut self.board, board);
        self.future.clear();
        let outcome = Outcome { before: before.clone(), change: change.clone(), about };
        match self.past.last_mut().filter(|(_, last)| same && goes_on(last, &change)) {
            Some((first, last)) => {
                let back = *first == self.board;
                if let (Change::Setting { to, .. }, Change::Setting { to: now, .. }) = (last, change) {
                    *to = now;
                }
                if back {
                    self.past.pop();
                }
            }
            None => {
                if self.past.len() == MOST {
                    self.past.remove(0);
                }
                self.past.push((before, change));
            }
        }
        Ok(Some(outcome))
    }

    /// Takes the last change back.
    pub fn undo(&mut self) -> Option<Outcome> {
        let (board, change) = self.past.pop()?;
        let before = std::mem::replace(&mut self.board, board);
        self.future.push((before.clone(), change.clone()));
        Some(Outcome { before, change: change.reversed(), about: Vec::new() })
    }

    /// Makes the change again that was taken back last.
    pub fn redo(&mut self) -> Option<Outcome> {
        let (board, change) = self.future.pop()?;
        let before = std::mem::replace(&mut self.board, board);
        self.past.push((before.clone(), change.clone()));
        Some(Outcome { before, change, about: Vec::new() })
    }
}

/// Is a change one with the change before it?
fn goes_on(last: &Change, now: &Change) -> bool {
    match (last, now) {
        (Change::Setting { key: a, .. }, Change::Setting { key: b, .. }) => a == b,
        (Change::Parts { what: a, runs: false }, Change::Parts { what: b, runs: false }) => a == b,
        _ => false,
    }
}

fn describe(edit: &Edit, before: &Board, after: &Blueprint, about: &[PartId]) -> Change {
    let (before, was) = (before.blueprint(), before.budget());
    let parts = |what: String| Change::Parts { what, runs: true };
    let named = |blueprint: &Blueprint, parts: &[PartId]| match parts {
        [one] => blueprint.name(*one),
        several => format!("{} parts", several.len()),
    };
    match edit {
        Edit::Place { .. } => parts(format!("{} placed", named(after, about))),
        Edit::Move { parts, .. } => Change::Parts { what: format!("{} moved", named(after, parts)), runs: false },
        Edit::Link { from, to } => parts(format!("{} → {} linked", before.name(*from), before.name(*to))),
        Edit::Unlink { from, to } => parts(format!("{} → {} unlinked", before.name(*from), before.name(*to))),
        Edit::LinkAll { from } => parts(format!("{} → all replicas linked", before.name(*from))),
        Edit::UnlinkAll { from } => parts(format!("{} unlinked", before.name(*from))),
        Edit::Open { .. } => parts("another fleet".to_owned()),
        Edit::Delete { parts: which } => parts(format!("{} deleted", named(before, which))),
        Edit::Duplicate { parts: which } => parts(format!("{} duplicated", named(before, which))),
        Edit::Preset { name, .. } => parts(format!("traffic: {name}")),
        Edit::Budget(budget) => {
            let of = |budget: Option<u64>| budget.map(|credits| Value::Number(credits as f64));
            Change::Setting { key: "budget".into(), from: of(was), to: of(*budget) }
        }
        Edit::Set(changes) => match changes.as_slice() {
            [one] => {
                let (from, to) = (value_at(before, &one.key), value_at(after, &one.key));
                Change::Setting { key: one.key.clone(), from, to }
            }
            several => parts(format!("{} settings", several.len())),
        },
    }
}

/// The value at a key; none if there is no such part.
fn value_at(blueprint: &Blueprint, key: &str) -> Option<Value> {
    match Address::parse(key).ok()? {
        Address::Replicas => Some(Value::Number(blueprint.replicas.len() as f64)),
        Address::Setting(setting, index) => {
            let index = index.unwrap_or(0);
            (index < blueprint.count(setting.part)).then(|| setting.get(blueprint, index))
        }
    }
}
