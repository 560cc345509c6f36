//! Level files: the format, and reading it strictly.

use super::goal::{Bound, Goal, ReportKey};
use super::placing::{has_room, on_board};
use super::solution::AssignmentList;
use crate::blueprint::{
    Address, Assignment, Balancer, Blueprint, EditError, Part, PartFile, PartId, Replica, Router, SettingError, Tag,
    Traffic, tag,
};
use ron::error::Position;
use ron::extensions::Extensions;
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

/// A level.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// What the command line and links call it: lower-case words joined by hyphens.
    pub id: String,
    /// Its name on the screen.
    pub title: String,
    /// The incident, in words.
    pub brief: String,
    /// The fleet as it is given.
    pub blueprint: Blueprint,
    /// May the player place, link and delete parts? Else the fleet is given, and only its settings can be changed.
    pub placing: bool,
    /// What the player may spend on parts, in credits; none for as much as they like.
    pub budget: Option<u64>,
    /// The plain keys of the settings that the player may change; the others are shown, locked.
    pub open: Vec<String>,
    /// How long a run is, in simulated seconds.
    pub seconds: f64,
    /// How much of it is warm-up.
    pub warmup_s: f64,
    /// The seeds on which it must be won.
    pub seeds: Vec<u64>,
    /// What wins it. None for a level that is only to be watched.
    pub goals: Vec<Goal>,
    /// A harder goal, for those who want more.
    pub margin: Option<Goal>,
    /// Hints, the gentlest first.
    pub hints: Vec<String>,
    /// What happened, in the field's words: for after the win.
    pub debrief: String,
    /// What wins it.
    pub solution: Build,
    /// Changes that look right and must not win it.
    pub decoys: Vec<Decoy>,
}

/// What can be made of a level: a fleet, where parts can be placed, and changes to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Build {
    /// The fleet; none for the one that the level gives.
    pub fleet: Option<Blueprint>,
    /// The changes.
    pub set: Vec<Assignment>,
}

/// What looks right and must not win a level.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoy {
    /// What it tries, in words.
    pub name: String,
    /// What it makes of the level.
    pub build: Build,
}

/// A level file that cannot be taken: which, where, and what is wrong with it, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct LevelError {
    place: String,
    problem: String,
}

impl LevelError {
    /// At a place in a file.
    pub(super) fn at(name: &str, position: Position, problem: impl Into<String>) -> Self {
        let Position { line, col } = position;
        Self { place: format!("{name}:{line}:{col}"), problem: one_line(&problem.into()) }
    }

    /// Of a file as a whole, or of what somebody named so.
    pub(super) fn whole(name: &str, problem: impl Into<String>) -> Self {
        Self { place: shown(name), problem: one_line(&problem.into()) }
    }
}

impl From<SettingError> for LevelError {
    fn from(error: SettingError) -> Self {
        Self::whole(&error.key, format!("expected {}, found {}", error.expected, error.found))
    }
}

/// A name from outside, on one line and cut to a length that can be read.
fn shown(name: &str) -> String {
    const LONGEST: usize = 300;
    let mut shown = String::new();
    for c in name.chars().take(LONGEST) {
        match c.is_control() {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    if name.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The largest level file that is read, in bytes.
const LARGEST_FILE: u64 = 1 << 20;
/// The most traffic sources, balancers or routers of a level, each.
const MOST_PARTS: usize = 256;
/// The most seeds of a level.
const MOST_SEEDS: usize = 16;

/// Reads a file as text, up to a size that a level or a solution has.
pub(super) fn read_text(path: &Path) -> Result<String, LevelError> {
    let name = path.display().to_string();
    let unreadable = |error: std::io::Error| LevelError::whole(&name, format!("cannot be read: {error}"));
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(LevelError::whole(&name, format!("expected at most {LARGEST_FILE} bytes, found more")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        LevelError::whole(&name, format!("expected UTF-8 text, found another byte after {place} bytes"))
    })
}

/// Reads a value from RON text in which options stand bare, without `Some(..)`; `name` is what errors call the text.
pub(super) fn from_ron<T: serde::de::DeserializeOwned>(name: &str, text: &str) -> Result<T, LevelError> {
    let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
    options.from_str(text).map_err(|error| {
        let problem = error.code.to_string();
        // What does not hold between parts is noticed at the end of the whole: better said where the word stands.
        if let Some(position) = quoted_word(&problem).and_then(|word| position_of_only(text, word)) {
            return LevelError::at(name, position, problem);
        }
        let position = error.span.start;
        let says_found = ["found", "nexpected", "missing", "uplicate"].iter().any(|word| problem.contains(word));
        let found = if says_found { String::new() } else { format!(", found {}", excerpt(text, &position)) };
        LevelError::at(name, position, problem + &found)
    })
}

/// The word in double quotes with which a message ends, quotes included.
fn quoted_word(problem: &str) -> Option<&str> {
    let end = problem.trim_end_matches(" twice").strip_suffix('"')?;
    let start = end.rfind('"')?;
    problem.get(start..=end.len())
}

/// Where a word stands in a text, if it stands there once.
fn position_of_only(text: &str, word: &str) -> Option<Position> {
    (text.matches(word).count() == 1).then(|| position_of(text, word)).flatten()
}

/// What stands at a position of a text, up to where a value may end.
fn excerpt(text: &str, position: &Position) -> String {
    let line = text.lines().nth(position.line.saturating_sub(1)).unwrap_or_default();
    let rest: String = line.chars().skip(position.col.saturating_sub(1)).collect();
    let word: String = rest.trim_start().chars().take_while(|c| !matches!(c, ',' | ')' | ']')).take(40).collect();
    if word.is_empty() { "the end of the line".into() } else { format!("`{}`", word.trim_end()) }
}

impl Level {
    /// Reads a level file.
    ///
    /// # Errors
    /// Where the file cannot be read, is not well formed, or does not hold together.
    pub fn read(path: &Path) -> Result<Self, LevelError> {
        Self::parse(&path.display().to_string(), &read_text(path)?)
    }

    /// Reads a level from text; `name` is what errors call it.
    ///
    /// # Errors
    /// As [`Level::read`].
    pub fn parse(name: &str, text: &str) -> Result<Self, LevelError> {
        let file: LevelFile = from_ron(name, text)?;
        let placed = |(needle, problem): (String, String)| match position_of(text, &needle) {
            Some(position) => LevelError::at(name, position, problem),
            None => LevelError::whole(name, problem),
        };
        let level = file.into_level().map_err(placed)?;
        level.consistent().map_err(placed)?;
        Ok(level)
    }

    /// What a fleet and settings, as files have them, make of this level.
    pub(super) fn build(&self, fleet: Option<FleetFile>, set: AssignmentList) -> Result<Build, String> {
        if fleet.is_some() && !self.placing {
            return Err("expected no fleet of its own in a level without a budget".into());
        }
        let placed = |file: FleetFile| {
            // Before they are made and given places, which takes long for thousands.
            on_board(file.parts()).map_err(|error| error.to_string())?;
            let mut fleet = file.into_blueprint(&self.blueprint)?;
            fleet.stand_apart();
            has_room(&fleet).map_err(|error| error.to_string())?;
            Ok::<_, String>(fleet)
        };
        Ok(Build { fleet: fleet.map(placed).transpose()?, set: set.0 })
    }

    /// What does not hold between the parts of a level: a word that stands in the file near the place, and the problem.
    fn consistent(&self) -> Result<(), (String, String)> {
        if self.warmup_s >= self.seconds {
            let problem = format!("expected a warm-up below {} seconds, found {}", self.seconds, self.warmup_s);
            return Err(("warmup_s".into(), problem));
        }
        for goal in self.goals.iter().chain(&self.margin) {
            if let Some(("replicas", index)) =
                goal.key.split_once('.').map(|(head, rest)| (head, rest.split('.').next().unwrap_or_default()))
                && index.parse::<usize>().is_ok_and(|index| index >= self.blueprint.replicas.len())
            {
                let problem = format!("expected a replica from 0 to {}", self.blueprint.replicas.len().max(1) - 1);
                return Err((goal.key.clone(), format!("{problem}, found {index}")));
            }
        }
        let solution = |error: EditError| ("solution".to_owned(), format!("the solution: {error}"));
        self.built(&self.solution).map_err(solution)?;
        for decoy in &self.decoys {
            self.blueprint_of(&decoy.build)
                .map_err(|error| (decoy.name.clone(), format!("the decoy {:?}: {error}", decoy.name)))?;
        }
        Ok(())
    }
}

/// Where a word first stands in a text.
fn position_of(text: &str, needle: &str) -> Option<Position> {
    let before = &text[..text.find(needle)?];
    let line = 1 + before.matches('\n').count();
    let col = 1 + before.chars().rev().take_while(|&c| c != '\n').count();
    Some(Position { line, col })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelFile {
    id: Id,
    title: String,
    brief: String,
    fleet: Fleet,
    #[serde(default)]
    budget: Option<u64>,
    #[serde(default)]
    open: Vec<PlainKey>,
    seconds: Seconds,
    #[serde(default)]
    warmup_s: Warmup,
    seeds: Seeds,
    #[serde(default)]
    goals: Vec<Goal>,
    #[serde(default)]
    margin: Option<Goal>,
    #[serde(default)]
    hints: Vec<String>,
    #[serde(default)]
    debrief: String,
    #[serde(default)]
    solution: AssignmentList,
    #[serde(default)]
    solution_fleet: Option<FleetFile>,
    #[serde(default)]
    decoys: Vec<DecoyFile>,
}

impl LevelFile {
    /// The level; or a word that stands in the file near what does not hold, and the problem.
    fn into_level(self) -> Result<Level, (String, String)> {
        let placing = self.budget.is_some();
        let mut blueprint = self.fleet.0;
        if placing {
            on_board(blueprint.parts()).map_err(|error| ("fleet".to_owned(), error.to_string()))?;
            blueprint.stand_apart();
            has_room(&blueprint).map_err(|error| ("fleet".to_owned(), error.to_string()))?;
        }
        let mut level = Level {
            id: self.id.0,
            title: self.title,
            brief: self.brief,
            blueprint,
            placing,
            budget: self.budget,
            open: self.open.into_iter().map(|key| key.0).collect(),
            seconds: self.seconds.0,
            warmup_s: self.warmup_s.0,
            seeds: self.seeds.0,
            goals: self.goals,
            margin: self.margin,
            hints: self.hints,
            debrief: self.debrief,
            solution: Build::default(),
            decoys: Vec::new(),
        };
        if let Some(budget) = self.budget {
            let bound = Bound::AtMost(budget as f64);
            level.goals.push(Goal { name: "Budget".into(), key: "credits".into(), bound });
        }
        let near = |needle: &str| {
            let needle = needle.to_owned();
            move |problem: String| (needle, problem)
        };
        level.solution = level.build(self.solution_fleet, self.solution).map_err(near("solution_fleet"))?;
        for file in self.decoys {
            let build = level.build(file.fleet, file.set).map_err(near(&file.name))?;
            level.decoys.push(Decoy { name: file.name, build });
        }
        Ok(level)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename = "Decoy")]
struct DecoyFile {
    name: String,
    #[serde(default)]
    fleet: Option<FleetFile>,
    #[serde(default)]
    set: AssignmentList,
}

/// A type that is read as another and then checked: `$check` says what was expected where it does not hold.
macro_rules! checked {
    ($name:ident($inner:ty), $check:expr) => {
        struct $name($inner);
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let inner = <$inner>::deserialize(deserializer)?;
                let check: fn(&$inner) -> Result<(), String> = $check;
                check(&inner).map_err(D::Error::custom)?;
                Ok(Self(inner))
            }
        }
    };
}

fn expect(holds: bool, expected: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(expected()) }
}

checked!(Id(String), |id| {
    let fine = !id.is_empty() && id.len() <= 64 && id.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    expect(fine, || format!("id: expected lower-case letters, digits and hyphens, found {id:?}"))
});
checked!(Seconds(f64), |s| {
    expect(*s > 0.0 && *s <= 1e7, || format!("seconds: expected a number above 0 and up to 1e7, found {s}"))
});
checked!(Warmup(f64), |s| {
    expect((0.0..1e7).contains(s), || format!("warmup_s: expected a number from 0 up to below 1e7, found {s}"))
});
checked!(Seeds(Vec<u64>), |seeds| {
    let count = seeds.len();
    expect((1..=MOST_SEEDS).contains(&count), || format!("seeds: expected 1 to {MOST_SEEDS} of them, found {count}"))
});
checked!(PlainKey(String), |key| {
    let address = Address::parse(key).map_err(|error| error.to_string())?;
    expect(address.plain_key() == key, || format!("expected a key without an index, found {key:?}"))
});

impl Default for Warmup {
    fn default() -> Self {
        Self(0.0)
    }
}

impl<'de> Deserialize<'de> for Goal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, rename = "Goal")]
        struct GoalFile {
            name: String,
            key: ReportKey,
            #[serde(default)]
            at_least: Option<Number>,
            #[serde(default)]
            at_most: Option<Number>,
        }
        let file = GoalFile::deserialize(deserializer)?;
        let bound = match (file.at_least, file.at_most) {
            (Some(target), None) => Bound::AtLeast(target.0),
            (None, Some(target)) => Bound::AtMost(target.0),
            (None, None) => return Err(D::Error::custom("a goal: expected at_least or at_most, found neither")),
            (Some(_), Some(_)) => return Err(D::Error::custom("a goal: expected at_least or at_most, found both")),
        };
        Ok(Self { name: file.name, key: file.key.0, bound })
    }
}

/// A finite number; in a file it stands bare, not in `Some(..)`.
struct Number(f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let x = f64::deserialize(deserializer)?;
        expect(x.is_finite(), || format!("expected a finite number, found {x}")).map_err(D::Error::custom)?;
        Ok(Self(x))
    }
}

/// The parts of a fleet as a file has them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename = "Fleet")]
pub(super) struct FleetFile {
    #[serde(default)]
    traffic: Vec<PartFile<tag::Traffic>>,
    #[serde(default)]
    balancers: Vec<PartFile<tag::Balancer>>,
    #[serde(default)]
    routers: Vec<PartFile<tag::Router>>,
    #[serde(default)]
    replicas: Vec<PartFile<tag::Replica>>,
}

/// A fleet that holds together.
struct Fleet(Blueprint);

impl<'de> Deserialize<'de> for Fleet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FleetFile::deserialize(deserializer)?.into_blueprint(&Blueprint::default()).map(Self).map_err(D::Error::custom)
    }
}

/// The parts of a fleet by the names that links call them.
#[derive(Default)]
struct Names(Vec<(String, Vec<PartId>)>);

impl Names {
    fn add<T: Tag>(&mut self, file: &PartFile<T>, first: usize) -> Result<(), String> {
        let Some(name) = &file.name else { return Ok(()) };
        if self.0.iter().any(|(known, _)| known == name) {
            return Err(format!("expected names that differ, found two parts named {name:?}"));
        }
        let parts = (first..first + file.count).map(|index| PartId::new(T::PART, index)).collect();
        self.0.push((name.clone(), parts));
        Ok(())
    }

    fn links<T: Tag>(&self, file: &PartFile<T>, index: usize, links: &mut Vec<(PartId, PartId)>) -> Result<(), String> {
        let from = PartId::new(T::PART, index);
        let mut seen = BTreeSet::new();
        for name in &file.to {
            let Some((_, parts)) = self.0.iter().find(|(known, _)| known == name) else {
                let known: Vec<&str> = self.0.iter().map(|(known, _)| known.as_str()).collect();
                return Err(format!("to: expected the name of a part, one of {}; found {name:?}", known.join(", ")));
            };
            for &to in parts {
                if !T::PART.may_send_to(to.part) {
                    return Err(format!(
                        "to: expected a part that a {} may send to, found a {} ({name:?})",
                        T::PART.key(),
                        to.part.key()
                    ));
                }
                if !seen.insert(to) {
                    return Err(format!("to: expected each part once, found {name:?} twice"));
                }
                links.push((from, to));
            }
        }
        Ok(())
    }
}

/// Adds the parts of a file, set as it says; what it does not say is as `plain` has it.
fn build<T: Tag, P>(
    file: &PartFile<T>,
    blueprint: &mut Blueprint,
    list: fn(&mut Blueprint) -> &mut Vec<P>,
    plain: impl Fn(usize) -> P,
) {
    for _ in 0..file.count {
        let index = list(blueprint).len();
        list(blueprint).push(plain(index));
        if let Some(at) = file.at {
            blueprint.places.insert(PartId::new(T::PART, index), at);
        }
        for (setting, value) in file.rows() {
            setting.set(blueprint, index, value);
        }
    }
}

impl FleetFile {
    /// How many parts these are.
    fn parts(&self) -> usize {
        let replicas = self.replicas.iter().map(|file| file.count).sum::<usize>();
        self.traffic.len() + self.balancers.len() + self.routers.len() + replicas
    }

    /// The fleet. Its first parts of each kind are those of `given`: what is not said of them is as it is given.
    pub(super) fn into_blueprint(self, given: &Blueprint) -> Result<Blueprint, String> {
        let mut blueprint = Blueprint::default();
        let mut names = Names::default();
        for (what, count) in [
            ("traffic", self.traffic.len()),
            ("balancers", self.balancers.len()),
            ("routers", self.routers.len()),
            ("replicas", self.replicas.len()),
        ] {
            expect(count <= MOST_PARTS, || format!("{what}: expected at most {MOST_PARTS}, found {count}"))?;
        }
        let replicas: usize = self.replicas.iter().map(|file| file.count).sum();
        let most = crate::blueprint::MOST_REPLICAS;
        expect(replicas <= most, || format!("expected at most {most} replicas in all, found {replicas}"))?;
        for file in &self.traffic {
            names.add(file, blueprint.traffics.len())?;
            let id = PartId::new(Part::Traffic, blueprint.traffics.len());
            // What is given keeps its name.
            if let Some(name) = given.names.get(&id).or(file.name.as_ref()) {
                blueprint.names.insert(id, name.clone());
            }
            let plain = |index: usize| given.traffics.get(index).cloned().unwrap_or_default();
            build(file, &mut blueprint, |blueprint| &mut blueprint.traffics as &mut Vec<Traffic>, plain);
        }
        for file in &self.balancers {
            names.add(file, blueprint.balancers.len())?;
            let plain = |index: usize| given.balancers.get(index).cloned().unwrap_or_default();
            build(file, &mut blueprint, |blueprint| &mut blueprint.balancers as &mut Vec<Balancer>, plain);
        }
        for file in &self.routers {
            names.add(file, blueprint.routers.len())?;
            let plain = |index: usize| given.routers.get(index).cloned().unwrap_or_default();
            build(file, &mut blueprint, |blueprint| &mut blueprint.routers as &mut Vec<Router>, plain);
        }
        for file in &self.replicas {
            names.add(file, blueprint.replicas.len())?;
            let bought = || Replica::bought(file.large);
            let plain = |index: usize| given.replicas.get(index).cloned().unwrap_or_else(bought);
            build(file, &mut blueprint, |blueprint| &mut blueprint.replicas as &mut Vec<Replica>, plain);
        }
        let mut links = Vec::new();
        for (index, file) in self.traffic.iter().enumerate() {
            names.links(file, index, &mut links)?;
        }
        for (index, file) in self.balancers.iter().enumerate() {
            names.links(file, index, &mut links)?;
        }
        for (index, file) in self.routers.iter().enumerate() {
            names.links(file, index, &mut links)?;
        }
        blueprint.links = links;
        if let Some(error) = blueprint.inconsistency() {
            return Err(error.to_string());
        }
        debug_assert!(Part::ALL.iter().all(|part| blueprint.count(*part) <= most));
        Ok(blueprint)
    }
}
