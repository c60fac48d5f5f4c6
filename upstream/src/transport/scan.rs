//! Finds the request that a message answers without keeping the message: for replies that are too long to keep,
//! or not JSON past some point.

use rmcp::model::RequestId;

/// Maximum length of an id; ours are shorter.
const MAX_ID: usize = 64;

/// Reads a message byte by byte and keeps its top-level `id`.
#[derive(Default, Debug)]
pub(crate) struct Scan {
    depth: u64,
    in_string: bool,
    escaped: bool,
    after_colon: bool,
    key: Vec<u8>,
    value: Vec<u8>,
    id: Option<RequestId>,
    is_request: bool,
}

impl Scan {
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    /// Returns the request it answers, if it is a reply.
    pub(crate) fn id(&self) -> Option<RequestId> {
        if self.is_request { None } else { self.id.clone() }
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            if self.in_string || self.after_colon {
                self.keep(byte);
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                match self.after_colon {
                    false if self.depth == 1 => self.key.clear(),
                    false => {}
                    true => self.keep(byte),
                }
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_of_field();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => {
                self.after_colon = true;
                self.is_request |= self.key == b"method";
            }
            b',' if self.depth == 1 => self.end_of_field(),
            _ if byte.is_ascii_whitespace() => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        let text = match self.after_colon {
            _ if self.depth != 1 => return,
            true if self.key == b"id" => &mut self.value,
            true => return,
            false => &mut self.key,
        };
        if text.len() <= MAX_ID {
            text.push(byte);
        }
    }

    fn end_of_field(&mut self) {
        if self.after_colon && self.key == b"id" {
            self.id = serde_json::from_slice(&self.value).ok();
        }
        self.after_colon = false;
        self.key.clear();
        self.value.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Option<RequestId> {
        let mut scan = Scan::default();
        for byte in text.bytes() {
            scan.feed(&[byte]);
        }
        scan.id()
    }

    #[test]
    fn finds_the_id_wherever_it_stands() {
        assert_eq!(
            id(r#"{"jsonrpc":"2.0","id":7,"result":{"id":9,"a":[{"id":1}]}}"#),
            Some(RequestId::Number(7))
        );
        assert_eq!(id(r#"{"result":{"id":9,"text":"\"id\":8,"}, "id" : 12 }"#), Some(RequestId::Number(12)));
        assert_eq!(id(r#"{"id":"a\"b","result":1}"#), Some(RequestId::String("a\"b".into())));
        assert_eq!(id(r#"{"id":7,"result":"cut off in the mid"#), Some(RequestId::Number(7)));
    }

    #[test]
    fn requests_and_other_things_answer_nothing() {
        for text in [
            r#"{"id":7,"method":"ping"}"#,
            r#"[{"id":7}]"#,
            "no json",
            "",
            "}}}}",
            r#"{"id":{"id":7}}"#,
            r#"{"id":nul}"#,
        ] {
            assert_eq!(id(text), None, "{text}");
        }
    }
}
