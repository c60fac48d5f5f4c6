//! Parser of signatures: tokens → [`Signature`].

use super::lex::{Lexeme, Token, lex};
use super::types::{Field, Literal, Num, Pred, Type, repeated};
use super::{MAX_NESTING, MAX_PATTERNS, MAX_TEXT, Signature, SignatureError, malli};
use ptc_bytecode::nearest;

/// Types that have a name.
pub(super) const NAMES: &[(&str, Type)] = &[
    ("string", Type::String),
    ("int", Type::Int),
    ("float", Type::Float),
    ("bool", Type::Bool),
    ("boolean", Type::Bool),
    ("keyword", Type::Keyword),
    ("any", Type::Any),
    ("map", Type::Map),
    ("datetime", Type::DateTime),
    ("nil", Type::Nil),
];

pub(super) fn signature(source: &str) -> Result<Signature, SignatureError> {
    if source.len() > MAX_TEXT {
        let message =
            format!("a signature may have at most {MAX_TEXT} bytes, but this one has {}", source.len());
        return Err(SignatureError::data(message).hint("describe large data as `:map` or `[:map]`"));
    }
    if malli::is_text(source) {
        let data = malli::read_text(source)?;
        return Signature::from_malli(&data);
    }
    let mut parser = Parser { source, lexemes: lex(source)?, next: 0, patterns: 0 };
    let signature = parser.signature()?;
    match parser.lexemes.get(parser.next) {
        None => Ok(signature),
        Some(lexeme) => Err(parser.trailing(lexeme, &signature)),
    }
}

struct Parser<'s> {
    source: &'s str,
    lexemes: Vec<Lexeme<'s>>,
    next: usize,
    /// Number of patterns so far.
    patterns: usize,
}

impl<'s> Parser<'s> {
    fn signature(&mut self) -> Result<Signature, SignatureError> {
        if self.lexemes.is_empty() {
            return Err(self.error("the signature is empty").hint("write `:any` for a result of any kind"));
        }
        let has_params = self.is_mark('(');
        let params = if has_params { self.fields('(', ')', 0)? } else { Vec::new() };
        if self.peek() == Some(&Token::Arrow) {
            self.next += 1;
        } else if has_params {
            return Err(self.error("parameters need a result after them").hint("write `(…) -> :any`"));
        }
        Ok(Signature { params, returns: self.ty(0)? })
    }

    fn peek(&self) -> Option<&Token<'s>> {
        self.lexemes.get(self.next).map(|lexeme| &lexeme.token)
    }

    fn is_mark(&self, mark: char) -> bool {
        self.peek() == Some(&Token::Mark(mark))
    }

    /// Returns whether `mark` comes next without a space before it.
    fn is_close_mark(&self, mark: char) -> bool {
        self.is_mark(mark) && !self.lexemes[self.next].spaced
    }

    fn error(&self, message: impl Into<String>) -> SignatureError {
        let at = self.lexemes.get(self.next).map_or(self.source.len(), |lexeme| lexeme.at);
        SignatureError::at(self.source, at, message)
    }

    fn shown(&self, lexeme: &Lexeme<'s>) -> String {
        let text = &self.source[lexeme.at..lexeme.end];
        if text.chars().count() > 40 {
            format!("{}…", text.chars().take(40).collect::<String>())
        } else {
            text.into()
        }
    }

    fn trailing(&self, lexeme: &Lexeme<'s>, signature: &Signature) -> SignatureError {
        if lexeme.token == Token::Arrow && signature.params.is_empty() {
            return self.error("parameters belong in parentheses").hint("write `(name :type) -> …`");
        }
        self.error(format!("`{}` is left over after the signature", self.shown(lexeme)))
    }

    /// Parses names and types between brackets.
    fn fields(&mut self, open: char, close: char, depth: usize) -> Result<Vec<Field>, SignatureError> {
        let start = self.next;
        self.next += 1;
        let mut fields = Vec::new();
        while !self.is_mark(close) {
            let Some(lexeme) = self.lexemes.get(self.next) else {
                let at = self.lexemes[start].at;
                return Err(SignatureError::at(self.source, at, format!("a `{open}` without its `{close}`")));
            };
            let name = match &lexeme.token {
                Token::Word(name) | Token::Keyword(name) if is_name(name) => (*name).to_string(),
                Token::Text(name) if !name.is_empty() => name.clone(),
                Token::Word(_) | Token::Keyword(_) => {
                    let message = format!("`{}` is not a name", self.shown(lexeme));
                    return Err(self
                        .error(message)
                        .hint("letters, digits, `_` and `-`, the first a letter or `_`"));
                }
                _ => {
                    let message = format!("expected a name, but found `{}`", self.shown(lexeme));
                    return Err(self.error(message).hint(format!("write `{open}name :type{close}`")));
                }
            };
            self.next += 1;
            if self.is_close_mark('?') {
                let message = format!("the `?` belongs after the type of `{name}`");
                return Err(self.error(message).hint(format!("write `{name} :string?`")));
            }
            if self.is_mark(close) || self.peek().is_none() {
                let message = format!("`{name}` has no type");
                return Err(self.error(message).hint(format!("write `{name} :any`")));
            }
            fields.push(Field::new(name, self.ty(depth + 1)?));
        }
        self.next += 1;
        if let Some(name) = repeated(&fields) {
            let at = self.lexemes[start].at;
            return Err(SignatureError::at(self.source, at, format!("`{name}` occurs twice")));
        }
        Ok(fields)
    }

    fn ty(&mut self, depth: usize) -> Result<Type, SignatureError> {
        if depth > MAX_NESTING {
            return Err(self
                .error(format!("types nest deeper than {MAX_NESTING}"))
                .hint("use `:map` for what lies deeper"));
        }
        let mut types = vec![self.alternative(depth)?];
        while self.is_mark('|') {
            self.next += 1;
            types.push(self.alternative(depth)?);
        }
        Ok(Type::any_of(types))
    }

    fn alternative(&mut self, depth: usize) -> Result<Type, SignatureError> {
        let mut ty = self.core(depth)?;
        if self.is_close_mark('[') {
            let start = self.next;
            let preds = self.conditions()?;
            let at = self.lexemes[start].at;
            ty = Type::refined(ty, preds).map_err(|message| SignatureError::at(self.source, at, message))?;
        }
        if self.is_close_mark('?') {
            self.next += 1;
            ty = Type::optional(ty);
        }
        Ok(ty)
    }

    fn core(&mut self, depth: usize) -> Result<Type, SignatureError> {
        let Some(lexeme) = self.lexemes.get(self.next) else {
            return Err(self.error("a type is missing at the end").hint("write `:any` for anything"));
        };
        match &lexeme.token {
            Token::Keyword("enum") => {
                self.next += 1;
                self.literals()
            }
            Token::Keyword(name) => {
                let Some((_, ty)) = NAMES.iter().find(|(known, _)| known == name) else {
                    return Err(self.unknown_type(name));
                };
                self.next += 1;
                Ok(ty.clone())
            }
            Token::Mark('{') => Ok(Type::Record { fields: self.fields('{', '}', depth)?, closed: false }),
            Token::Mark('[') => {
                self.next += 1;
                if self.is_mark(']') {
                    return Err(self
                        .error("a list needs the type of its items")
                        .hint("write `[:any]`, or e.g. `[:int]`"));
                }
                let item = self.ty(depth + 1)?;
                if !self.is_mark(']') {
                    return Err(self
                        .error("a list has one type for all its items")
                        .hint("close it with `]`; for several named parts write `{a :int, b :string}`"));
                }
                self.next += 1;
                Ok(Type::List(Box::new(item)))
            }
            Token::Word(word) => {
                let message = format!("expected a type, but found `{}`", self.shown(lexeme));
                Err(self.error(message).hint(if NAMES.iter().any(|(known, _)| known == word) {
                    format!("types begin with a colon: `:{word}`")
                } else {
                    "such as `:string`, `[:int]` or `{name :string}`".to_string()
                }))
            }
            _ => {
                let message = format!("expected a type, but found `{}`", self.shown(lexeme));
                Err(self.error(message).hint("such as `:string`, `[:int]` or `{name :string}`"))
            }
        }
    }

    fn unknown_type(&self, name: &str) -> SignatureError {
        let shown: String = name.chars().take(40).collect();
        let error = self.error(format!("`:{shown}` is not a type"));
        error.hint(match name {
            "list" | "array" | "vector" | "seq" => {
                "write `[:type]`, such as `[:int]` or `[:any]`".to_string()
            }
            "tuple" => "there are no tuples: name the parts, `{x :int, y :int}`".to_string(),
            "object" => "write `{field :type}`, or `:map` for any map".to_string(),
            _ => {
                let known = NAMES.iter().map(|(name, _)| *name);
                let all: Vec<String> = known.clone().map(|name| format!(":{name}")).collect();
                let close = nearest(name, known).map(|name| format!("did you mean `:{name}`? "));
                format!("{}types are {}", close.unwrap_or_default(), all.join(" "))
            }
        })
    }

    /// Parses the values after `:enum`.
    fn literals(&mut self) -> Result<Type, SignatureError> {
        if !self.is_close_mark('[') {
            return Err(self.error("`:enum` needs its values").hint("write `:enum[pending active closed]`"));
        }
        self.next += 1;
        let mut values: Vec<Literal> = Vec::new();
        while !self.is_mark(']') {
            let Some(lexeme) = self.lexemes.get(self.next) else {
                return Err(self.error("an `:enum[` without its `]`"));
            };
            let value = match &lexeme.token {
                Token::Word(word) => match *word {
                    "nil" => Literal::Nil,
                    "true" => Literal::Bool(true),
                    "false" => Literal::Bool(false),
                    word => Literal::Str(word.to_string()),
                },
                Token::Text(text) => Literal::Str(text.clone()),
                Token::Keyword(name) => Literal::Keyword((*name).to_string()),
                Token::Num(number) => Literal::Num(*number),
                _ => {
                    let message = format!("`{}` cannot be a value of an enum", self.shown(lexeme));
                    return Err(self.error(message).hint("put it in quotes"));
                }
            };
            if !values.is_empty() && !lexeme.spaced {
                let message = format!("`{}` touches the value before it", self.shown(lexeme));
                return Err(self.error(message).hint("put a value with such characters in quotes"));
            }
            values.push(value);
            self.next += 1;
        }
        if values.is_empty() {
            return Err(self.error("an `:enum` of no values fits nothing").hint("write `:enum[yes no]`"));
        }
        self.next += 1;
        Ok(Type::Enum(values))
    }

    /// Parses `[>0]`, `[1..100]`, `[min 1 max 5]`, `[re "^a"]`, or several of them.
    fn conditions(&mut self) -> Result<Vec<Pred>, SignatureError> {
        self.next += 1;
        let mut preds = Vec::new();
        while !self.is_mark(']') {
            let token = self.peek().cloned();
            self.next += 1;
            match token {
                Some(Token::Compare(op)) => {
                    let bound = self.number(op)?;
                    preds.push(match op {
                        ">" => Pred::Gt(bound),
                        ">=" => Pred::Ge(bound),
                        "<" => Pred::Lt(bound),
                        _ => Pred::Le(bound),
                    });
                }
                Some(Token::Num(low)) => {
                    if self.peek() != Some(&Token::Dots) {
                        return Err(self.error("a range needs two dots").hint("write `:int[1..100]`"));
                    }
                    self.next += 1;
                    let high = self.number("..")?;
                    if low.get() > high.get() {
                        self.next -= 1;
                        return Err(self
                            .error("nothing lies between these bounds")
                            .hint("the lower one comes first"));
                    }
                    preds.extend([Pred::Ge(low), Pred::Le(high)]);
                }
                Some(Token::Word(word @ ("min" | "max"))) => {
                    let Num::Int(bound @ 0..) = self.number(word)? else {
                        return Err(self.error(format!("`{word}` is a count, so it needs 0, 1, 2, …")));
                    };
                    preds.push(if word == "min" { Pred::Min(bound as u64) } else { Pred::Max(bound as u64) });
                }
                Some(Token::Word("re")) => {
                    let Some(Token::Text(pattern)) = self.peek().cloned() else {
                        return Err(self.error("`re` needs a pattern in quotes"));
                    };
                    self.patterns += 1;
                    if self.patterns > MAX_PATTERNS {
                        return Err(self.error(format!("more than {MAX_PATTERNS} patterns")));
                    }
                    check_pattern(&pattern).map_err(|message| self.error(message))?;
                    self.next += 1;
                    preds.push(Pred::Re(pattern));
                }
                _ => {
                    self.next -= 1;
                    return Err(self
                        .error("expected a condition here")
                        .hint("such as `:int[>0]`, `:int[1..100]` or `:string[1..40]`"));
                }
            }
        }
        if preds.is_empty() {
            return Err(self.error("empty conditions").hint("leave out the `[]`"));
        }
        self.next += 1;
        Ok(preds)
    }

    fn number(&mut self, before: &str) -> Result<Num, SignatureError> {
        match self.peek() {
            Some(Token::Num(number)) => {
                let number = *number;
                self.next += 1;
                Ok(number)
            }
            _ => Err(self.error(format!("`{before}` needs a number after it"))),
        }
    }
}

/// Returns whether a word can name a field without quotes.
pub(super) fn is_name(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Maximum size of a compiled pattern, in bytes.
const PATTERN_BYTES: usize = 1 << 18;

/// Compiles a pattern, or returns the reason why it is none.
pub(super) fn pattern(source: &str) -> Result<regex::Regex, String> {
    regex::RegexBuilder::new(source).size_limit(PATTERN_BYTES).nest_limit(50).build().map_err(|error| {
        match error {
            regex::Error::CompiledTooBig(_) => "the pattern is too large".to_string(),
            other => {
                let last = other.to_string().lines().last().unwrap_or_default().to_string();
                format!("not a pattern: {}", last.trim_start_matches("error: "))
            }
        }
    })
}

pub(super) fn check_pattern(source: &str) -> Result<(), String> {
    pattern(source).map(|_| ())
}
