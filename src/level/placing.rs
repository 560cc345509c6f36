//! Levels in which parts are placed: the blank canvas, and what a player may make of a level's fleet.

use super::file::{Build, Level};
use crate::blueprint::{
    Address, Assignment, Blueprint, Edit, EditError, MOST_ON_BOARD, Part, PartId, Piece, Replica, Setting,
    SettingError, Traffic, apply, settings_of,
};

/// What of a replica goes with the piece that was bought, and cannot be set on a canvas.
const BOUGHT: [&str; 5] = [
    "replica.kv_tokens",
    "replica.prefill_base_ms",
    "replica.prefill_tokens_per_s",
    "replica.decode_base_ms",
    "replica.decode_per_call_ms",
];
/// What a canvas may be set to at most, so that one that came from somewhere can be run anywhere: calls a second if every
/// session ran at once, sessions at once while they think, tokens of a session's last prompt, places in all queues.
const MOST_CALLS_PER_S: f64 = 20_000.0;
const MOST_THINKING: f64 = 1_000_000.0;
const MOST_PROMPT_TOKENS: f64 = 10_000_000.0;
const MOST_PLACES: u64 = 1_000_000;

const BUDGET_GIVEN: &str = "The budget of this problem is given.";
const FLEET_GIVEN: &str = "This problem's fleet is given: only its settings are yours to change.";
const TRAFFIC_GIVEN: &str = "The traffic of this problem is given.";

impl Level {
    /// The id of the blank canvas.
    pub const CANVAS: &str = "canvas";

    /// The blank canvas: nothing on it, nothing to win, as many credits as one likes.
    pub fn canvas() -> Self {
        let keys = Part::ALL.iter().flat_map(|part| settings_of(*part)).map(|setting| setting.key);
        Self {
            id: Self::CANVAS.into(),
            title: "Blank canvas".into(),
            brief: String::new(),
            blueprint: Blueprint::default(),
            placing: true,
            budget: None,
            open: keys.filter(|key| !BOUGHT.contains(key)).map(str::to_owned).collect(),
            seconds: 3_600.0,
            warmup_s: 0.0,
            seeds: vec![1, 2, 3],
            goals: Vec::new(),
            margin: None,
            hints: Vec::new(),
            debrief: String::new(),
            solution: Build::default(),
            decoys: Vec::new(),
        }
    }

    /// Is it the blank canvas?
    pub fn is_canvas(&self) -> bool {
        self.id == Self::CANVAS
    }

    /// May the player buy this piece here? The traffic of a problem is given.
    pub fn sells(&self, piece: Piece) -> bool {
        self.placing && (piece != Piece::Traffic || self.is_canvas())
    }

    /// Does the level give this part? Then it stays.
    pub fn gives(&self, id: PartId) -> bool {
        id.index < self.blueprint.count(id.part)
    }

    /// The fleet that a build makes of the level.
    ///
    /// # Errors
    /// For a change that cannot be applied.
    pub fn blueprint_of(&self, build: &Build) -> Result<Blueprint, EditError> {
        let mut blueprint = build.fleet.clone().unwrap_or_else(|| self.blueprint.clone());
        apply(&mut blueprint, &build.set)?;
        Ok(blueprint)
    }

    /// The fleet that a build makes of the level when a player makes it: locks and budget bind it.
    ///
    /// # Errors
    /// For a change that cannot be applied or that a player cannot have made.
    pub fn built(&self, build: &Build) -> Result<Blueprint, EditError> {
        let mut blueprint = build.fleet.clone().unwrap_or_else(|| self.blueprint.clone());
        self.admits(&blueprint)?;
        self.apply_as_player(&mut blueprint, &build.set)?;
        self.admits(&blueprint)?;
        Ok(blueprint)
    }

    /// Is this edit one that the level leaves to the player? What comes of it must be admitted, too.
    ///
    /// # Errors
    /// In one sentence, why not.
    pub fn allows(&self, edit: &Edit) -> Result<(), EditError> {
        let problem = !self.is_canvas();
        let is_traffic = |id: &PartId| id.part == Part::Traffic;
        let why = match edit {
            Edit::Set(changes) => return self.open_to_player(changes).map_err(EditError::from),
            Edit::Open { budget, .. } if problem && *budget != self.budget => Some(BUDGET_GIVEN),
            // Whether a player can have made it is asked of what comes of it.
            Edit::Open { .. } => None,
            _ if !self.placing => Some(FLEET_GIVEN),
            Edit::Place { piece, .. } if !self.sells(*piece) => Some(TRAFFIC_GIVEN),
            Edit::Duplicate { parts } if problem && parts.iter().any(is_traffic) => Some(TRAFFIC_GIVEN),
            Edit::Preset { .. } if problem => Some(TRAFFIC_GIVEN),
            Edit::Budget(_) if problem => Some(BUDGET_GIVEN),
            Edit::Delete { parts } if parts.iter().any(|id| self.gives(*id)) => {
                Some("The problem gives this part: it stays.")
            }
            _ => None,
        };
        why.map_or(Ok(()), |why| Err(EditError::rule(why)))
    }

    /// Can a player have made this fleet of the level? The given parts are there, what is locked is as it was, and the
    /// budget holds.
    ///
    /// # Errors
    /// In one sentence, what a player cannot have done.
    pub fn admits(&self, blueprint: &Blueprint) -> Result<(), EditError> {
        self.admits_for(blueprint, self.budget)
    }

    /// As [`Level::admits`], with this budget.
    ///
    /// # Errors
    /// As there.
    pub fn admits_for(&self, blueprint: &Blueprint, budget: Option<u64>) -> Result<(), EditError> {
        let given = &self.blueprint;
        // Where their number is a setting, there may be fewer replicas than are given.
        let fewer = |part: Part| part == Part::Replica && !self.placing && self.is_open("replicas");
        let missing = |part: &Part| blueprint.count(*part) < given.count(*part) && !fewer(*part);
        if let Some(part) = Part::ALL.into_iter().find(missing) {
            return Err(EditError::rule(format!("A {} that the problem gives is missing.", part.key())));
        }
        if self.placing {
            on_board(blueprint.parts())?;
            let traffic = |blueprint: &Blueprint| (blueprint.traffics.len(), blueprint.names.clone());
            if !self.is_canvas() && traffic(blueprint) != traffic(given) {
                return Err(EditError::rule(TRAFFIC_GIVEN));
            }
            within_budget(blueprint.credits_over(given), budget)?;
            within_bounds(blueprint)?;
        } else {
            let mut same = given.clone();
            if self.is_open("replicas") && !given.replicas.is_empty() {
                same.resize_replicas(blueprint.replicas.len());
            }
            let counted = |part: Part| same.count(part) == blueprint.count(part);
            if same.links != blueprint.links || !Part::ALL.into_iter().all(counted) {
                return Err(EditError::rule(FLEET_GIVEN));
            }
        }
        self.locked_settings_hold(blueprint).map_err(EditError::from)
    }

    fn locked_settings_hold(&self, blueprint: &Blueprint) -> Result<(), SettingError> {
        let shop = Blueprint {
            traffics: vec![Traffic::default()],
            balancers: vec![Default::default()],
            routers: vec![Default::default()],
            replicas: vec![Replica::default(), Replica::large()],
            ..Blueprint::default()
        };
        let closed = |setting: &&Setting| !self.is_open(setting.key);
        for part in Part::ALL {
            for index in 0..blueprint.count(part) {
                // A part that was added is as it was bought; in a problem without placing, like the first.
                let (model, place) = match (self.gives(PartId::new(part, index)), self.placing, part) {
                    (true, ..) => (&self.blueprint, index),
                    (false, false, _) => (&self.blueprint, 0),
                    (false, true, Part::Replica) => (&shop, usize::from(blueprint.replicas[index].large)),
                    (false, true, _) => (&shop, 0),
                };
                for setting in settings_of(part).iter().filter(closed) {
                    let (value, must) = (setting.get(blueprint, index), setting.get(model, place));
                    if value != must {
                        return Err(SettingError {
                            key: format!("{}[{index}].{}", part.key(), setting.field()),
                            expected: format!("{must}, which is locked"),
                            found: value.to_string(),
                        });
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn open_to_player(&self, changes: &[Assignment]) -> Result<(), SettingError> {
        for change in changes {
            let plain = Address::parse(&change.key)?.plain_key();
            if !self.is_open(plain) {
                let open = if self.open.len() > 12 { "one of the others".to_owned() } else { self.open.join(", ") };
                return Err(SettingError {
                    key: change.key.clone(),
                    expected: format!("a setting that this level leaves open: {open}"),
                    found: "a locked one".into(),
                });
            }
        }
        Ok(())
    }
}

/// Does a board take so many parts?
pub(super) fn on_board(parts: usize) -> Result<(), EditError> {
    match parts <= MOST_ON_BOARD {
        true => Ok(()),
        false => Err(EditError::rule(format!("The board takes {MOST_ON_BOARD} parts, found {parts}."))),
    }
}

/// Did every part find a place on the board?
pub(super) fn has_room(blueprint: &Blueprint) -> Result<(), EditError> {
    match blueprint.places.len() == blueprint.parts() {
        true => Ok(()),
        false => Err(EditError::rule("There is no room on the board for all of these parts.")),
    }
}

/// Does the budget allow so much?
fn within_budget(credits: u64, budget: Option<u64>) -> Result<(), EditError> {
    match budget {
        Some(budget) if credits > budget => Err(EditError::rule(format!(
            "That would come to {credits} credits, {} over the budget of {budget}.",
            credits - budget
        ))),
        _ => Ok(()),
    }
}

/// Can what is set on a board be run anywhere?
fn within_bounds(blueprint: &Blueprint) -> Result<(), EditError> {
    let sum = |of: fn(&Traffic) -> f64| blueprint.traffics.iter().map(of).sum::<f64>();
    let calls = sum(|source| source.sessions_per_s * source.steps as f64);
    let thinking = sum(|source| source.sessions_per_s * source.steps as f64 * source.think_s);
    let longest = |source: &Traffic| {
        let own = source.base_tokens.max(source.unshared_base_tokens) + source.shared_tokens;
        own as f64 + source.steps as f64 * (source.input_tokens + source.output_tokens) as f64
    };
    let longest = blueprint.traffics.iter().map(longest).fold(0.0, f64::max);
    let places: u64 = blueprint.routers.iter().map(|router| router.queue + router.slots).sum::<u64>()
        + blueprint.replicas.iter().map(|replica| replica.queue + replica.slots).sum::<u64>();
    let bound = |what: &str, found: f64, most: f64| match found <= most {
        true => Ok(()),
        false => Err(EditError::rule(format!("A canvas takes {what} up to {most}, found {found}."))),
    };
    bound("calls a second (sessions times steps, over all traffic)", calls, MOST_CALLS_PER_S)?;
    bound("sessions that think at once", thinking, MOST_THINKING)?;
    bound("prompts in tokens", longest, MOST_PROMPT_TOKENS)?;
    bound("slots and queue places in all", places as f64, MOST_PLACES as f64)
}
