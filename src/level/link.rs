//! Links: a level and settings behind the `#` of the page's address, as `#level=ID&router.affinity=1`.

use super::file::{Level, LevelError};
use crate::blueprint::Assignment;
use percent_encoding::percent_decode_str;

/// The longest link that is read, in bytes.
const LONGEST: usize = 1 << 14;

/// What a link opens.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The level.
    pub level: Level,
    /// Changes that a player could make.
    pub changes: Vec<Assignment>,
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
        let wrong = |found: &str| LevelError::whole("link", format!("expected #level=ID&KEY=VALUE, found {found}"));
        if text.len() > LONGEST {
            return Err(wrong("one that is too long"));
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
        level.apply_as_player(&mut level.blueprint.clone(), &changes)?;
        Ok(Some(Self { level, changes }))
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
        assert_eq!(link.changes, [Assignment::new("router.affinity", "1"), Assignment::new("replicas", "9")]);
        assert_eq!(Link::parse(""), Ok(None));
        assert_eq!(Link::parse("#"), Ok(None));
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
        ] {
            let line = Link::parse(link).expect_err(link).to_string();
            assert!(line.contains(says) && !line.contains('\n'), "{line}");
        }
    }
}
