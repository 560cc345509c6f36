//! Links: a level and settings behind the `#` of the page's address, as `#level=ID&router.affinity=1`.

use super::file::{Level, LevelError};
use super::share::Shared;
use crate::blueprint::{Assignment, Blueprint};
use percent_encoding::percent_decode_str;

/// The longest link that is read, in bytes.
const LONGEST: usize = 1 << 17;

/// What a link opens.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The level.
    pub level: Level,
    /// Its fleet, with what a player could make of it.
    pub blueprint: Blueprint,
}

impl From<Shared> for Link {
    fn from(Shared { level, blueprint }: Shared) -> Self {
        Self { level, blueprint }
    }
}

impl Link {
    /// Reads what stands behind the `#`; none if that names nothing.
    ///
    /// # Errors
    /// For an unknown level, a setting that is unknown, locked or out of range, or anything else that is no link.
    pub fn parse(text: &str) -> Result<Option<Self>, LevelError> {
        let text = text.strip_prefix('#').unwrap_or(text);
        if text.is_empty() {
            return Ok(None);
        }
        let wrong = |found: &str| {
            LevelError::whole("link", format!("expected #level=ID&KEY=VALUE or #canvas=CODE, found {found}"))
        };
        if text.len() > LONGEST {
            return Err(wrong("one that is too long"));
        }
        // A code is the whole of a link.
        for key in ["canvas=", "solution="] {
            if let Some(code) = text.strip_prefix(key) {
                let code = percent_decode_str(code).decode_utf8_lossy();
                return Shared::parse(&code).map(|shared| Some(shared.into()));
            }
        }
        let mut level = None;
        let mut changes = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or_else(|| wrong(&format!("{pair:?}")))?;
            let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
            match (decode(key).as_str(), decode(value)) {
                ("level", id) => level = Some(Level::by_id(&id)?),
                (key, value) => changes.push(Assignment::new(key, value)),
            }
        }
        let level = level.ok_or_else(|| wrong("no level"))?;
        let mut blueprint = level.blueprint.clone();
        level.apply_as_player(&mut blueprint, &changes)?;
        Ok(Some(Self { level, blueprint }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_opens_a_level_with_settings() {
        let link =
            Link::parse("#level=more-replicas-slower-answers&router.affinity=1&replicas=9").expect("well formed");
        let link = link.expect("it names a level");
        assert_eq!(link.level.id, "more-replicas-slower-answers");
        assert_eq!((link.blueprint.routers[0].affinity, link.blueprint.replicas.len()), (1.0, 9));
        assert_eq!(Link::parse(""), Ok(None));
        assert_eq!(Link::parse("#"), Ok(None));
    }

    #[test]
    fn a_link_opens_a_canvas_and_a_solution() {
        let mut blueprint = Blueprint::router_before(2);
        blueprint.stand_apart();
        let canvas = Shared { level: Level::canvas(), blueprint };
        let link = Link::parse(&format!("#canvas={}", canvas.to_code())).expect("well formed");
        assert_eq!(link, Some(canvas.into()));
        let level = Level::by_id("more-replicas-slower-answers").expect("it comes with the program");
        let blueprint = level.blueprint_of(&level.solution).expect("it holds together");
        let solution = Shared { level, blueprint };
        let link = Link::parse(&format!("#solution={}", solution.to_code())).expect("well formed");
        assert_eq!(link, Some(solution.into()));
    }

    #[test]
    fn a_bad_link_says_so_in_a_line() {
        for (link, says) in [
            ("#level=nope", "nope"),
            ("#router.affinity=1", "no level"),
            ("#level=more-replicas-slower-answers&traffic.shared=1", "locked"),
            ("#level=more-replicas-slower-answers&router.affinity=2", "0 to 1"),
            ("#level=more-replicas-slower-answers&router.affinity", "router.affinity"),
            ("#%ff%fe&&&=", "link"),
            ("#canvas=", "WP1-"),
            ("#canvas=WP1-AAAA", "damaged"),
        ] {
            let line = Link::parse(link).expect_err(link).to_string();
            assert!(line.contains(says) && !line.contains('\n'), "{line}");
        }
    }
}
