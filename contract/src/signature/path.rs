//! Paths to values inside others, such as `orders[1].buyer.id`.

use std::fmt;

/// Step of a [`Path`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Segment {
    /// Step into a field.
    Key(String),
    /// Step into an item.
    Index(usize),
}

/// Steps to a value, outermost first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Path(pub Vec<Segment>);

impl Path {
    /// Returns whether the path leads to the value itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the path goes through a field whose values are kept from models.
    pub fn is_firewalled(&self) -> bool {
        self.0.iter().any(|step| matches!(step, Segment::Key(name) if crate::firewall::is_firewalled(name)))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(name) => {
                    if i > 0 {
                        f.write_str(".")?;
                    }
                    let mut short: String = name.chars().take(60).collect();
                    if short.len() < name.len() {
                        short.push('…');
                    }
                    f.write_str(&short)?;
                }
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
