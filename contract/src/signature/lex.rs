//! Lexer of signatures: text → tokens. Shared by the shorthand and Malli text, which use the same tokens.

use super::SignatureError;
use super::types::Num;

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token<'s> {
    /// `(` `)` `[` `]` `{` `}` `?` `|`
    Mark(char),
    /// `->`
    Arrow,
    /// `..`
    Dots,
    /// `>` `>=` `<` `<=`
    Compare(&'s str),
    /// `:name`, without the colon; any characters but marks, so that mistakes get a good message.
    Keyword(&'s str),
    /// `name`
    Word(&'s str),
    Num(Num),
    Text(String),
}

/// A token, its first byte, and whether a space precedes it.
#[derive(Clone, Debug)]
pub(super) struct Lexeme<'s> {
    pub token: Token<'s>,
    pub at: usize,
    pub end: usize,
    pub spaced: bool,
}

pub(super) fn lex(source: &str) -> Result<Vec<Lexeme<'_>>, SignatureError> {
    let mut found: Vec<Lexeme<'_>> = Vec::new();
    let mut at = 0;
    let mut spaced = true;
    while let Some(c) = source[at..].chars().next() {
        // Commas are whitespace, as in the language.
        if c.is_whitespace() || c == ',' {
            at += c.len_utf8();
            spaced = true;
            continue;
        }
        let (token, len) = token(source, at, c)?;
        found.push(Lexeme { token, at, end: at + len, spaced });
        at += len;
        spaced = false;
    }
    Ok(found)
}

fn token(source: &str, at: usize, c: char) -> Result<(Token<'_>, usize), SignatureError> {
    let rest = &source[at..];
    if rest.starts_with("->") {
        return Ok((Token::Arrow, 2));
    }
    if rest.starts_with("=>") {
        return Err(SignatureError::at(source, at, "`=>` is not the arrow").hint("write `->`"));
    }
    if rest.starts_with("..") {
        return Ok((Token::Dots, 2));
    }
    if let Some(op) = [">=", "<=", ">", "<"].into_iter().find(|op| rest.starts_with(op)) {
        return Ok((Token::Compare(&rest[..op.len()]), op.len()));
    }
    match c {
        '(' | ')' | '[' | ']' | '{' | '}' | '?' | '|' => Ok((Token::Mark(c), 1)),
        '"' => text(source, at),
        '-' | '0'..='9' => number(source, at),
        ':' => {
            // Malli's `:=>` and `:>` begin like operators.
            let name = &rest[1..];
            let op = ["=>", ">=", "<=", ">", "<"].into_iter().find(|op| name.starts_with(op));
            let len = op.map_or_else(|| name_len(name), str::len);
            if len == 0 {
                let error = SignatureError::at(source, at, "a `:` needs a name after it");
                let is_behind = source[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
                return Err(if is_behind {
                    error.hint("names have no colon after them: `id :int`")
                } else {
                    error
                });
            }
            Ok((Token::Keyword(&name[..len]), 1 + len))
        }
        c if c.is_alphabetic() || c == '_' => {
            let len = name_len(rest);
            Ok((Token::Word(&rest[..len]), len))
        }
        c => Err(SignatureError::at(source, at, format!("`{}` is not allowed here", c.escape_debug()))),
    }
}

/// Returns the length of a name in bytes. `-` belongs to names, unless it begins an arrow.
fn name_len(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_arrow = c == '-' && matches!(chars.peek(), Some((_, '>')));
        if is_arrow || !(c.is_alphanumeric() || matches!(c, '_' | '-' | '*' | '!' | '/' | '.')) {
            return at;
        }
    }
    text.len()
}

fn number(source: &str, at: usize) -> Result<(Token<'_>, usize), SignatureError> {
    let rest = &source[at..];
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut len = usize::from(bytes[0] == b'-');
    let whole = digits(len);
    len += whole;
    let mut is_float = false;
    // `1..100` is a range, not a float with missing digits.
    if bytes.get(len) == Some(&b'.') && bytes.get(len + 1).is_some_and(u8::is_ascii_digit) {
        is_float = true;
        len += 1;
        len += digits(len);
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'-' | b'+')));
        let exponent = digits((len + 1 + sign).min(bytes.len()));
        if exponent > 0 {
            is_float = true;
            len += 1 + sign + exponent;
        }
    }
    let bad = || {
        let shown: String = rest[..len].chars().take(40).collect();
        SignatureError::at(source, at, format!("`{shown}` is not a number that fits"))
    };
    if whole == 0 {
        return Err(bad());
    }
    let number = if is_float {
        rest[..len].parse().ok().filter(|x: &f64| x.is_finite()).map(Num::Float)
    } else {
        rest[..len].parse().ok().map(Num::Int)
    };
    Ok((Token::Num(number.ok_or_else(bad)?), len))
}

fn text(source: &str, at: usize) -> Result<(Token<'_>, usize), SignatureError> {
    let mut found = String::new();
    let mut chars = source[at + 1..].char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return Ok((Token::Text(found), i + 2)),
            '\\' => match chars.next() {
                Some((_, 'n')) => found.push('\n'),
                Some((_, 't')) => found.push('\t'),
                Some((_, 'r')) => found.push('\r'),
                Some((_, 'u')) => {
                    let code: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                    let c = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
                    found.push(c.ok_or_else(|| SignatureError::at(source, at, "a bad `\\u` in a text"))?);
                }
                Some((_, c)) => found.push(c),
                None => break,
            },
            c => found.push(c),
        }
    }
    Err(SignatureError::at(source, at, "a text without its closing `\"`"))
}

/// Returns the position of the arrow between parameters and result; None if there is none or the text is invalid.
pub(super) fn arrow(source: &str) -> Option<usize> {
    if source.len() > super::MAX_TEXT {
        return None;
    }
    let mut depth = 0_i32;
    for lexeme in lex(source).ok()? {
        match lexeme.token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => depth -= 1,
            Token::Arrow if depth == 0 => return Some(lexeme.at),
            _ => {}
        }
    }
    None
}

/// Returns whether a keyword of this name can be written.
pub(super) fn is_keyword(name: &str) -> bool {
    let text = format!(":{name}");
    matches!(lex(&text).as_deref(), Ok([Lexeme { token: Token::Keyword(read), .. }]) if *read == name)
}

/// Returns whether a text is one word, so that it needs no quotes.
pub(super) fn is_word(text: &str) -> bool {
    matches!(lex(text).as_deref(), Ok([Lexeme { token: Token::Word(word), .. }]) if *word == text)
}
