//! The component page as data: what each part does and costs, what holds of it, and the fleets that show it.
//!
//! The texts stand in `assets/components.ron`, read as strictly as a level.

use super::demo::{BestPoint, Curve, Demo, Line, Scale, Setup, SideBySide};
use super::file::{Level, LevelError, from_ron};
use super::goal::ReportKey;
use super::solution::AssignmentList;
use crate::blueprint::{Assignment, Balancer, Blueprint, Piece, Replica, Router, Setting, Traffic, apply, settings_of};
use serde::Deserialize;

/// The file, and what errors call it.
const FILE: (&str, &str) = ("assets/components.ron", include_str!("../../assets/components.ron"));

/// The component page.
#[derive(Clone, Debug, PartialEq)]
pub struct Components {
    /// What stands at its top.
    pub title: String,
    /// The parts, the router first.
    pub cards: Vec<Component>,
    /// What is shown live, in the order of the page: a note names its own by its place here.
    pub demos: Vec<Demo>,
}

/// A part on the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// As what it is bought: that says its price.
    pub piece: Piece,
    /// Its name in full.
    pub name: String,
    /// The zone that it belongs to, if it has one.
    pub zone: Option<String>,
    /// What it does.
    pub does: String,
    /// What is worth knowing of it.
    pub notes: Vec<Note>,
    /// Its settings.
    pub settings: Vec<ComponentSetting>,
    /// The ids of the problems that start with it.
    pub problems: Vec<String>,
}

/// A setting of a part on the page.
#[derive(Clone, Copy)]
pub struct ComponentSetting {
    /// Its row of the table.
    pub setting: &'static Setting,
    /// What a part of this kind comes with.
    pub value: crate::blueprint::Value,
    /// Is it fixed by the part that one buys on the blank canvas?
    pub fixed: bool,
}

impl PartialEq for ComponentSetting {
    fn eq(&self, other: &Self) -> bool {
        (self.setting.key, self.value, self.fixed) == (other.setting.key, other.value, other.fixed)
    }
}

impl std::fmt::Debug for ComponentSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} = {}", self.setting.key, self.value)
    }
}

/// Something worth knowing.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// What kind of note it is.
    pub kind: NoteKind,
    /// What it says.
    pub says: String,
    /// What shows it: its place in [`Components::demos`].
    pub demo: Option<usize>,
}

/// What kind of note it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum NoteKind {
    /// Something surprising.
    DidYouKnow,
    /// What to do when nothing else is known.
    RuleOfThumb,
    /// What goes wrong.
    WatchOut,
}

impl Components {
    /// The page that comes with the program.
    ///
    /// # Panics
    /// If it is not well formed: a test reads it.
    pub fn builtin() -> Self {
        Self::parse(FILE.0, FILE.1).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Reads the page from text; `name` is what errors call it.
    ///
    /// # Errors
    /// Where the text is not well formed, or names a setting, a level or a report key that is not there.
    pub fn parse(name: &str, text: &str) -> Result<Self, LevelError> {
        let file: PageFile = from_ron(name, text)?;
        let mut demos = Vec::new();
        let cards = file.cards.into_iter().map(|card| card.read(&mut demos)).collect::<Result<_, _>>()?;
        Ok(Self { title: file.title, cards, demos })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageFile {
    title: String,
    cards: Vec<CardFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CardFile {
    piece: String,
    /// That of the piece, where none is given.
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    zone: Option<String>,
    does: String,
    notes: Vec<NoteFile>,
    /// Those of its part, where none are named.
    #[serde(default)]
    settings: Vec<String>,
    #[serde(default)]
    problems: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoteFile {
    kind: NoteKind,
    says: String,
    #[serde(default)]
    demo: Option<DemoFile>,
}

#[derive(Deserialize)]
enum DemoFile {
    SideBySide(SideBySideFile),
    Curve(CurveFile),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SideBySideFile {
    title: String,
    level: String,
    #[serde(default)]
    set: AssignmentList,
    seed: u64,
    warmup_s: f64,
    pace: f64,
    sides: Vec<LineFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CurveFile {
    title: String,
    level: String,
    #[serde(default)]
    set: AssignmentList,
    seed: u64,
    vary: String,
    values: Vec<f64>,
    #[serde(default)]
    words: Vec<(f64, String)>,
    axis: String,
    reads: ReportKey,
    scale: Scale,
    lines: Vec<LineFile>,
    #[serde(default)]
    best: Option<BestPoint>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineFile {
    name: String,
    #[serde(default)]
    set: AssignmentList,
}

fn wrong(place: &str, problem: String) -> LevelError {
    LevelError::whole(&format!("{}: {place}", FILE.0), problem)
}

impl CardFile {
    fn read(self, demos: &mut Vec<Demo>) -> Result<Component, LevelError> {
        let piece = Piece::ALL.into_iter().find(|piece| piece.name() == self.piece).ok_or_else(|| {
            let known = Piece::ALL.map(Piece::name).join(", ");
            wrong("piece", format!("expected one of {known}; found {:?}", self.piece))
        })?;
        let settings = self.settings(piece)?;
        for id in &self.problems {
            Level::by_id(id)?;
        }
        let mut notes = Vec::new();
        for note in self.notes {
            let demo = note.demo.map(DemoFile::read).transpose()?;
            let place = demo.is_some().then_some(demos.len());
            demos.extend(demo);
            notes.push(Note { kind: note.kind, says: note.says, demo: place });
        }
        Ok(Component {
            piece,
            name: self.name.unwrap_or_else(|| piece.name().to_owned()),
            zone: self.zone,
            does: self.does,
            notes,
            settings,
            problems: self.problems,
        })
    }

    /// The settings that the page shows of this piece, each at what it comes with.
    fn settings(&self, piece: Piece) -> Result<Vec<ComponentSetting>, LevelError> {
        let alone = Blueprint {
            traffics: vec![Traffic::default()],
            balancers: vec![Balancer::default()],
            routers: vec![Router::default()],
            replicas: vec![Replica::bought(piece == Piece::LargeReplica)],
            ..Blueprint::default()
        };
        let find = |key: &String| {
            Setting::find(key)
                .ok_or_else(|| wrong(piece.name(), format!("expected the plain key of a setting, found {key:?}")))
        };
        let shown = if self.settings.is_empty() {
            settings_of(piece.part()).iter().collect()
        } else {
            self.settings.iter().map(find).collect::<Result<Vec<_>, _>>()?
        };
        let canvas = Level::canvas();
        let row = |setting: &'static Setting| ComponentSetting {
            setting,
            value: setting.get(&alone, 0),
            fixed: !canvas.is_open(setting.key),
        };
        Ok(shown.into_iter().map(row).collect())
    }
}

impl DemoFile {
    fn read(self) -> Result<Demo, LevelError> {
        match self {
            Self::SideBySide(file) => file.read().map(Demo::SideBySide),
            Self::Curve(file) => file.read().map(Demo::Curve),
        }
    }
}

/// A level set otherwise.
fn setup(level: &str, set: AssignmentList, seed: u64, warmup_s: Option<f64>) -> Result<Setup, LevelError> {
    let mut level = Level::by_id(level)?;
    apply(&mut level.blueprint, &set.0)?;
    level.warmup_s = warmup_s.unwrap_or(level.warmup_s);
    Ok(Setup { level, set: set.0, seed })
}

fn line(setup: &Setup, file: LineFile) -> Result<Line, LevelError> {
    let mut blueprint = setup.level.blueprint.clone();
    apply(&mut blueprint, &file.set.0)?;
    Ok(Line { name: file.name, blueprint })
}

fn lines(setup: &Setup, title: &str, files: Vec<LineFile>) -> Result<Vec<Line>, LevelError> {
    if files.is_empty() {
        return Err(wrong(title, "expected something to run, found nothing".into()));
    }
    files.into_iter().map(|file| line(setup, file)).collect()
}

impl SideBySideFile {
    fn read(self) -> Result<SideBySide, LevelError> {
        if !(self.warmup_s >= 0.0 && self.pace > 0.0 && self.pace.is_finite()) {
            return Err(wrong(&self.title, "expected a warm-up of at least 0 s and a pace above 0".into()));
        }
        let setup = setup(&self.level, self.set, self.seed, Some(self.warmup_s))?;
        let sides = lines(&setup, &self.title, self.sides)?;
        Ok(SideBySide { title: self.title, setup, pace: self.pace, sides })
    }
}

impl CurveFile {
    fn read(self) -> Result<Curve, LevelError> {
        let setup = setup(&self.level, self.set, self.seed, None)?;
        let lines = lines(&setup, &self.title, self.lines)?;
        if self.values.len() < 2 {
            return Err(wrong(&self.title, "values: expected two or more".into()));
        }
        for value in &self.values {
            for line in &lines {
                apply(&mut line.blueprint.clone(), &[Assignment::new(&self.vary, value.to_string())])?;
            }
        }
        let word = |value: f64| self.words.iter().find(|(of, _)| *of == value).map(|(_, word)| word.clone());
        let values = self.values.iter().map(|&value| (value, word(value))).collect();
        Ok(Curve {
            title: self.title,
            setup,
            vary: self.vary,
            values,
            axis: self.axis,
            reads: self.reads.0,
            scale: self.scale,
            lines,
            best: self.best,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blueprint::Part;

    #[test]
    fn every_piece_has_its_card_and_the_router_is_as_its_page_has_it() {
        let page = Components::builtin();
        let prices: Vec<(&str, u64)> =
            page.cards.iter().map(|card| (card.piece.name(), card.piece.credits())).collect();
        let expected =
            [("Inference router", 8), ("Traffic", 0), ("Load balancer", 3), ("Replica", 10), ("Large replica", 18)];
        assert_eq!(prices, expected);
        let router = &page.cards[0];
        assert_eq!((router.name.as_str(), router.zone.as_deref()), ("Inference router (KV-aware)", Some("ai")));
        let names: Vec<&str> = router.settings.iter().map(|row| row.setting.name).collect();
        assert_eq!(
            names,
            [
                "Concurrency",
                "Queue capacity",
                "vCPU",
                "Latency p50",
                "Latency p99",
                "Session affinity",
                "Prefix-cache hit, same replica",
                "Requests on the shared prefix",
                "Spill when queue reaches"
            ]
        );
    }

    #[test]
    fn the_problems_of_a_part_are_those_whose_fleet_has_it() {
        let router = &Components::builtin().cards[0];
        let with_router: Vec<String> = Level::builtin()
            .into_iter()
            .filter(|level| level.blueprint.count(Part::Router) > 0)
            .map(|level| level.id)
            .collect();
        assert_eq!(router.problems, with_router);
    }

    #[test]
    fn a_large_replica_is_two_in_cache_and_prefill_and_one_in_all_else() {
        let page = Components::builtin();
        let of = |name: &str| page.cards.iter().find(|card| card.name == name).expect("a card");
        let (small, large) = (of("Replica"), of("Large replica"));
        for (one, two) in small.settings.iter().zip(&large.settings) {
            let twice = matches!(one.setting.key, "replica.kv_tokens" | "replica.prefill_tokens_per_s");
            let factor = if twice { 2.0 } else { 1.0 };
            assert_eq!(one.value.number().map(|x| x * factor), two.value.number(), "{}", one.setting.key);
            assert_eq!((one.fixed, two.fixed), (!matches!(one.setting.field(), "slots" | "queue"), one.fixed));
        }
    }

    #[test]
    fn every_text_is_short_and_whole() {
        for card in Components::builtin().cards {
            let notes = card.notes.iter().map(|note| note.says.as_str());
            for text in notes.chain([card.does.as_str()]) {
                assert!(text.len() < 480 && text.ends_with('.') && !text.contains("  "), "{text}");
            }
            assert!(!card.settings.is_empty(), "{}", card.name);
        }
    }

    #[test]
    fn what_is_not_there_is_refused_in_a_line() {
        for (good, bad, says) in [
            ("piece: \"Inference router\"", "piece: \"Inference roter\"", "roter"),
            ("\"router.slots\"", "\"router.slot\"", "router.slot"),
            ("(\"traffic.steps\", 6)", "(\"traffic.steps\", 0)", "1 to 10000"),
            ("reads: \"hit_rate\"", "reads: \"hits\"", "hits"),
            ("vary: \"replicas\"", "vary: \"replica\"", "replica"),
            ("seed: 1", "sead: 1", "sead"),
            ("scale: Log", "scale: Lag", "Lag"),
            ("problems: [\"more", "problems: [\"less", "less-replicas"),
        ] {
            assert!(FILE.1.contains(good), "{good}");
            let error = Components::parse("page", &FILE.1.replacen(good, bad, 1)).expect_err(bad).to_string();
            assert!(error.contains(says) && !error.contains('\n'), "{error}");
        }
    }
}
