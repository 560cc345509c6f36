//! What a person does on the panels, as plain values that the app carries out.

use crate::blueprint::{Assignment, Edit};
use bevy::prelude::Message;

/// How fast simulated time goes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Speed {
    /// A tenth of real time.
    Tenth,
    /// As in reality.
    One,
    /// Eight times as fast.
    #[default]
    Eight,
    /// Sixty-four times as fast.
    SixtyFour,
    /// As fast as it goes.
    Max,
}

impl Speed {
    /// All of them, the slowest first.
    pub const ALL: [Self; 5] = [Self::Tenth, Self::One, Self::Eight, Self::SixtyFour, Self::Max];

    /// Simulated seconds for each real one; none for as fast as it goes.
    pub const fn factor(self) -> Option<f64> {
        match self {
            Self::Tenth => Some(0.1),
            Self::One => Some(1.0),
            Self::Eight => Some(8.0),
            Self::SixtyFour => Some(64.0),
            Self::Max => None,
        }
    }

    /// On its button.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Tenth => "0.1×",
            Self::One => "1×",
            Self::Eight => "8×",
            Self::SixtyFour => "64×",
            Self::Max => "max",
        }
    }

    /// The next faster (`up`) or slower one, or itself at the end.
    pub fn next(self, up: bool) -> Self {
        let place = Self::ALL.iter().position(|speed| *speed == self).unwrap_or(0);
        let next = if up { place + 1 } else { place.saturating_sub(1) };
        Self::ALL[next.min(Self::ALL.len() - 1)]
    }
}

/// Something that a person did, but for changing the fleet: that is a [`PlayerEdit`].
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Opens the level at this place in the list.
    OpenLevel(usize),
    /// Opens the component page.
    OpenComponents,
    /// Begins what is shown at this place of the component page anew.
    RestartDemo(usize),
    /// Goes back to the list of levels.
    Back,
    /// Pauses or goes on.
    TogglePause,
    /// Goes on to the next thing that can be seen to happen, and pauses there.
    StepEvent,
    /// Sets how fast time goes.
    SetSpeed(Speed),
    /// Begins again at 0:00, with the settings as they are now.
    Restart,
    /// Begins again with the level's next seed.
    NextSeed,
    /// Takes the last change back.
    Undo,
    /// Makes the change again that was taken back last.
    Redo,
    /// Asks for the verdict.
    Verdict,
    /// Lets the verdict under way go, or puts away the one that is shown.
    CloseVerdict,
}

/// The player changes the fleet: a setting, a part, a link. This is the one door to the running fleet.
#[derive(Message, Clone, Debug, PartialEq)]
pub struct PlayerEdit(pub Edit);

/// What is to be done with canvases that are kept.
#[derive(Message, Clone, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Begins anew: what came of the last thing that was asked for is forgotten.
    Begin,
    /// Saves what is drawn by this name.
    Save(String),
    /// Opens the one that is saved by this name.
    Open(String),
    /// Deletes the one that is saved by this name.
    Delete(String),
    /// Opens a code.
    Import(String),
}

/// What a panel hands back: all that the person did in it in one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deeds {
    /// Changes of the fleet.
    pub edits: Vec<Edit>,
    /// What is to be done with canvases that are kept.
    pub keeps: Vec<Keep>,
    /// Everything else.
    pub actions: Vec<Action>,
}

impl Deeds {
    /// One more action.
    pub fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// One more thing to do with canvases.
    pub fn keep(&mut self, keep: Keep) {
        self.keeps.push(keep);
    }

    /// One more change of the fleet.
    pub fn edit(&mut self, edit: Edit) {
        self.edits.push(edit);
    }

    /// One more change of a setting.
    pub fn change(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.edit(Edit::Set(vec![Assignment::new(key, value)]));
    }
}
