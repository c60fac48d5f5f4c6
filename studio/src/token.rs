//! The token that every address begins with.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

/// A random token, as text for addresses.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Makes a token of 192 random bits. The error is of the system.
    pub fn random() -> Result<Token, String> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes).map_err(|error| format!("no random numbers: {error}"))?;
        Ok(Token(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Returns it as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True if it is this text. How long that takes says nothing about the token.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.0.as_bytes().ct_eq(text.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::Token;

    #[test]
    fn tokens_are_long_and_never_the_same() {
        let (a, b) = (Token::random().expect("random"), Token::random().expect("random"));
        assert_eq!(a.as_str().len(), 32);
        assert!(a.is(a.as_str()) && !a.is(b.as_str()) && !a.is("") && !a.is(&a.as_str()[1..]));
    }
}
