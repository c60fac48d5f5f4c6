//! Images and documents in messages to a model. Where data is shown, the text has a placeholder, and the part
//! itself is attached to the same message, within limits.

use ptc_bytecode::Datum;
use ptc_bytecode::Media;
use ptc_contract::data::{Shown, View, show_public_with};
use ptc_contract::firewall::{FIREWALLED, Secrets, redact_with};
use ptc_model::{Message, Part};

/// Maximum parts of one message, and of their base64 together in bytes.
const IN_MESSAGE: Limit = Limit { parts: 8, bytes: 12 << 20 };

/// Maximum parts and bytes of all messages of a mission. Providers take about 20 MB in a request.
const IN_HISTORY: Limit = Limit { parts: 20, bytes: 18 << 20 };

struct Limit {
    parts: usize,
    bytes: usize,
}

/// The images and documents of a message that is being written.
#[derive(Debug, Default)]
pub(crate) struct Attachments {
    parts: Vec<Part>,
    bytes: usize,
}

impl Attachments {
    /// Returns the placeholder of an image or document and attaches it, or says in the placeholder why not.
    pub fn place(&mut self, media: Media<'_>, secrets: &mut Secrets) -> String {
        // A tool may return the bytes that it got under a firewalled name.
        if secrets.hides(media.data) {
            return FIREWALLED.to_string();
        }
        if self.parts.iter().any(|known| known.media() == media) {
            return media.to_string();
        }
        let is_over = self.bytes + media.data.len() > IN_MESSAGE.bytes;
        let why = match media.problem() {
            Some(problem) => problem,
            None if self.parts.len() >= IN_MESSAGE.parts => {
                format!("a message has at most {}", IN_MESSAGE.parts).into()
            }
            None if is_over => "the message has no room for it".into(),
            None => {
                self.bytes += media.data.len();
                self.parts.push(media.into());
                return media.to_string();
            }
        };
        media.unseen(&why)
    }

    /// Shows a value as text for a model.
    pub fn show(&mut self, value: View<'_>, limits: Shown, secrets: &mut Secrets) -> String {
        show_public_with(value, limits, &mut |media| self.place(media, secrets)).0
    }

    /// Redacts a value for JSON that a model reads.
    pub fn public(&mut self, value: &Datum, secrets: &mut Secrets) -> Datum {
        redact_with(value, &mut |media| self.place(media, secrets))
    }

    /// Returns the attached parts.
    pub fn into_parts(self) -> Vec<Part> {
        self.parts
    }
}

/// Removes the oldest images and documents from a history that has more than a request can hold. Text stays.
pub(crate) fn keep_newest(messages: &mut [Message]) {
    let (mut parts, mut bytes) = (0, 0);
    for message in messages.iter_mut().rev() {
        let mut is_kept: Vec<bool> = Vec::new();
        for part in message.parts.iter().rev() {
            (parts, bytes) = (parts + 1, bytes + part.data().len());
            is_kept.push(parts <= IN_HISTORY.parts && bytes <= IN_HISTORY.bytes);
        }
        if is_kept.contains(&false) {
            message.take_parts(|_| match is_kept.pop() {
                Some(false) => Some("newer ones took its place".to_string()),
                _ => None,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn photo(n: usize, bytes: usize) -> Part {
        Part::image("image/png", &vec![n as u8; bytes])
    }

    #[test]
    fn a_message_has_so_many_and_says_which_are_missing() {
        let mut attachments = Attachments::default();
        let mut secrets = Secrets::default();
        let parts: Vec<Part> = (0..10).map(|n| photo(n, 3)).collect();
        let words: Vec<String> =
            parts.iter().map(|part| attachments.place(part.media(), &mut secrets)).collect();
        assert_eq!(words[7], "<image image/png, 3 bytes>");
        assert_eq!(words[8], "<image image/png, 3 bytes, not shown: a message has at most 8>");
        assert_eq!(attachments.place(parts[0].media(), &mut secrets), words[0], "it is there already");
        assert_eq!(attachments.into_parts(), parts[..8]);

        let mut attachments = Attachments::default();
        let large: Vec<Part> = (0..4).map(|n| photo(n, 3_900_000)).collect();
        let words: Vec<String> =
            large.iter().map(|part| attachments.place(part.media(), &mut secrets)).collect();
        assert_eq!(words[2..], ["<image image/png, 3.9 MB, not shown: the message has no room for it>"; 2]);
    }

    #[test]
    fn a_history_keeps_the_newest() {
        let message = |n| Message::user(format!("{n}: {}", photo(n, 3))).part(photo(n, 3));
        let mut messages: Vec<Message> = (0..25).map(message).collect();
        keep_newest(&mut messages);
        let held: Vec<usize> = messages.iter().map(|message| message.parts.len()).collect();
        assert_eq!((held[..5].to_vec(), held[5..].iter().sum::<usize>()), (vec![0; 5], 20));
        assert_eq!(
            messages[4].content,
            "4: <image image/png, 3 bytes, not shown: newer ones took its place>"
        );
        assert_eq!(messages[5], message(5));

        let mut messages: Vec<Message> =
            (0..6).map(|n| Message::user("").part(photo(n, 3_900_000))).collect();
        messages[0].parts.push(photo(9, 30));
        keep_newest(&mut messages);
        let held: Vec<usize> = messages.iter().map(|message| message.parts.len()).collect();
        assert_eq!(held, [0, 0, 0, 1, 1, 1]);
    }
}
