//! States of aggregates between machines: the value of `step`, as bytes that keep every type of value.

use ptc_runtime::{Datum, Frozen};

/// Version of the format, the first byte.
const VERSION: u8 = 1;

/// Maximum size of a state in bytes. All that an aggregate keeps for a group counts.
const MAX_BYTES: usize = 64 << 20;

/// Writes a state. Fails for values that are not data, such as functions.
pub(crate) fn to_bytes(state: &Frozen) -> Result<Vec<u8>, String> {
    let datum =
        state.to_datum(MAX_BYTES).map_err(|fault| format!("its state: {}", fault.to_diagnostic().message))?;
    postcard::to_extend(&datum, vec![VERSION])
        .map_err(|error| format!("its state cannot be written: {error}"))
}

/// Reads a state, which another machine may have sent.
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Frozen, String> {
    let damaged = |why: &str| format!("the state of a part is damaged: {why}");
    let Some((&VERSION, rest)) = bytes.split_first() else { return Err(damaged("it is of another version")) };
    if rest.len() > 2 * MAX_BYTES {
        return Err(damaged("it is too large"));
    }
    let datum: Datum = postcard::from_bytes(rest).map_err(|error| damaged(&error.to_string()))?;
    Frozen::from_datum(&datum).map_err(|fault| damaged(&fault.to_diagnostic().message))
}

#[cfg(test)]
mod tests {
    use super::{from_bytes, to_bytes};
    use ptc_runtime::{Datum, Frozen, Node};

    #[test]
    fn states_keep_their_types_and_damaged_ones_are_refused() {
        let nodes = vec![
            Node::Keyword("n".into()),
            Node::Big("123456789012345678901234567890".into()),
            Node::Str("n".into()),
            Node::Day(3),
            Node::Set(1),
            Node::Map(2),
        ];
        let datum = Datum::new(nodes).expect("a value");
        let bytes = to_bytes(&Frozen::from_datum(&datum).expect("a state")).expect("bytes");
        assert_eq!(from_bytes(&bytes).expect("a state").to_datum(1_000).expect("data"), datum);
        for at in 0..bytes.len() {
            for with in [0, 1, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = with;
                // It is another value or an error; never a panic, and never much memory.
                let _ = from_bytes(&damaged);
                let _ = from_bytes(&damaged[..at]);
            }
        }
        assert!(from_bytes(&[]).is_err());
        assert!(from_bytes(&[2, 0]).unwrap_err().contains("version"));
    }
}
