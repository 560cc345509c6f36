//! What hands do at a board: random acts, made of numbers that are read against the board as it then is.

use super::*;
use warmpath::blueprint::{
    Board, Edit, EditError, History, Kind, MOST_ON_BOARD, Outcome, PartId, Piece, Place, Setting,
};
use warmpath::level::presets;

/// A kind of part and a number, read as one of its kind, or now and then as one that is not there.
pub type Pick = (usize, usize);

#[derive(Clone, Debug)]
pub enum Act {
    Place(usize, (i32, i32)),
    Move(Vec<Pick>, (i32, i32)),
    Link(Pick, Pick),
    /// A link that is there, by number.
    Cut(usize),
    Unlink(Pick, Pick),
    LinkAll(Pick),
    UnlinkAll(Pick),
    /// The same fleet without its links takes the place of this one.
    Open(Option<u64>),
    Delete(Vec<Pick>),
    Duplicate(Vec<Pick>),
    Set(Vec<(usize, usize, u32)>),
    Replicas(u32),
    Budget(Option<u64>),
    Preset(usize, usize),
    Undo,
    Redo,
}

fn pick() -> impl Strategy<Value = Pick> {
    (0usize..4, 0usize..900)
}

/// Two parts that may often be linked.
fn pair() -> impl Strategy<Value = (Pick, Pick)> {
    let kinds = prop::sample::select(vec![(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (2, 3), (2, 3)]);
    let likely = (kinds, 0usize..900, 0usize..900).prop_map(|((from, to), a, b)| ((from, a), (to, b)));
    prop_oneof![4 => likely, 1 => (pick(), pick())]
}

fn by() -> impl Strategy<Value = (i32, i32)> {
    prop_oneof![
        8 => (-300i32..300, -300i32..300),
        1 => (any::<i32>(), any::<i32>()),
        1 => Just((i32::MIN, i32::MAX)),
    ]
}

fn at() -> impl Strategy<Value = (i32, i32)> {
    prop_oneof![8 => (0i32..2400, 0i32..1500), 1 => (any::<i32>(), any::<i32>()), 1 => Just((i32::MAX, i32::MIN))]
}

pub fn act() -> impl Strategy<Value = Act> {
    let picks = || prop::collection::vec(pick(), 1..4);
    prop_oneof![
        10 => (0usize..5, at()).prop_map(|(piece, at)| Act::Place(piece, at)),
        4 => (picks(), by()).prop_map(|(parts, by)| Act::Move(parts, by)),
        12 => pair().prop_map(|(from, to)| Act::Link(from, to)),
        2 => any::<usize>().prop_map(Act::Cut),
        1 => pair().prop_map(|(from, to)| Act::Unlink(from, to)),
        2 => pick().prop_map(Act::LinkAll),
        1 => pick().prop_map(Act::UnlinkAll),
        1 => prop::option::of(0u64..120).prop_map(Act::Open),
        3 => picks().prop_map(Act::Delete),
        3 => picks().prop_map(Act::Duplicate),
        6 => prop::collection::vec((any::<usize>(), 0usize..900, any::<u32>()), 1..3).prop_map(Act::Set),
        1 => any::<u32>().prop_map(Act::Replicas),
        1 => prop::option::of(0u64..120).prop_map(Act::Budget),
        2 => (0usize..900, 0usize..8).prop_map(|(traffic, preset)| Act::Preset(traffic, preset)),
        5 => Just(Act::Undo),
        3 => Just(Act::Redo),
    ]
}

pub fn acts(most: usize) -> impl Strategy<Value = Vec<Act>> {
    prop::collection::vec(act(), 1..most)
}

fn part(fleet: &Blueprint, (kind, number): Pick) -> PartId {
    let part = Part::ALL[kind % 4];
    let count = fleet.count(part);
    PartId::new(part, if number % 19 == 18 { count + number } else { number % count.max(1) })
}

/// A setting's key, for one part or for all, and a value that is mostly one of its own and never a heavy one to run.
fn assignment(fleet: &Blueprint, (setting, index, value): (usize, usize, u32)) -> Assignment {
    let all: Vec<&Setting> = Part::ALL.iter().flat_map(|part| settings_of(*part)).collect();
    let setting = all[setting % all.len()];
    let key = match index % 3 {
        0 => setting.key.to_owned(),
        _ => {
            let index = part(fleet, (setting.part as usize, index)).index;
            setting.key.replacen('.', &format!("[{index}]."), 1)
        }
    };
    let small = f64::from(value % 60);
    let text = match setting.kind {
        _ if value % 23 == 22 => ["-1", "nan", "1e300", "", "sideways"][value as usize / 23 % 5].to_owned(),
        Kind::Choice(words) => words[value as usize % words.len()].to_owned(),
        Kind::Count(low, _) if setting.key.ends_with("_tokens") => (low as f64 + small * 25.0).to_string(),
        Kind::Count(low, _) => (low as f64 + small).to_string(),
        Kind::Real(low, _) => (low + small * 0.75).to_string(),
        Kind::Positive(_) => (small * 0.1 + 0.01).to_string(),
        Kind::Share => (f64::from(value % 11) / 10.0).to_string(),
    };
    Assignment::new(key, text)
}

impl Act {
    /// What it comes to at this fleet; none for what is no edit.
    pub fn edit(&self, fleet: &Blueprint) -> Option<Edit> {
        let parts = |picks: &[Pick]| picks.iter().map(|pick| part(fleet, *pick)).collect::<Vec<_>>();
        Some(match self {
            Self::Place(piece, at) => Edit::Place { piece: Piece::ALL[*piece], at: Place(at.0, at.1) },
            Self::Move(picks, by) => Edit::Move { parts: parts(picks), by: *by },
            Self::Link(from, to) => Edit::Link { from: part(fleet, *from), to: part(fleet, *to) },
            Self::Cut(number) => {
                let (from, to) = *fleet.links.get(number % fleet.links.len().max(1))?;
                Edit::Unlink { from, to }
            }
            Self::Unlink(from, to) => Edit::Unlink { from: part(fleet, *from), to: part(fleet, *to) },
            Self::LinkAll(from) => Edit::LinkAll { from: part(fleet, *from) },
            Self::UnlinkAll(from) => Edit::UnlinkAll { from: part(fleet, *from) },
            Self::Open(budget) => {
                let blueprint = Box::new(Blueprint { links: Vec::new(), ..fleet.clone() });
                Edit::Open { blueprint, budget: *budget }
            }
            Self::Delete(picks) => Edit::Delete { parts: parts(picks) },
            Self::Duplicate(picks) => Edit::Duplicate { parts: parts(picks) },
            Self::Set(list) => Edit::Set(list.iter().map(|one| assignment(fleet, *one)).collect()),
            Self::Replicas(count) => Edit::Set(vec![Assignment::new("replicas", (count % 14).to_string())]),
            Self::Budget(budget) => Edit::Budget(*budget),
            Self::Preset(traffic, preset) => {
                let preset = &presets()[preset % presets().len()];
                let traffic = part(fleet, (0, *traffic)).index;
                Edit::Preset { traffic, name: preset.name.clone(), settings: preset.settings.clone() }
            }
            Self::Undo | Self::Redo => return None,
        })
    }
}

/// An edit as the game makes it: the level leaves it to the player, and what comes of it is admitted.
pub fn make(level: &Level, history: &mut History, edit: &Edit) -> Result<Option<Outcome>, EditError> {
    level.allows(edit)?;
    history.edit(edit, false, |board| level.admits_for(board.blueprint(), board.budget()))
}

/// The history that an act leaves; what is refused leaves none.
pub fn carry_out(level: &Level, history: &mut History, act: &Act) -> Option<Outcome> {
    match act {
        Act::Undo => history.undo(),
        Act::Redo => history.redo(),
        _ => act.edit(history.blueprint()).and_then(|edit| make(level, history, &edit).ok().flatten()),
    }
}

/// A history that begins with the level as it is given.
pub fn beginning(level: &Level) -> History {
    History::new(Board::new(level.blueprint.clone(), level.budget))
}

/// The blank canvas and every level of the program.
pub fn levels() -> Vec<Level> {
    let mut levels = vec![Level::canvas()];
    levels.extend(Level::builtin());
    levels
}

pub fn a_board_takes(fleet: &Blueprint) -> bool {
    fleet.parts() < MOST_ON_BOARD
}
