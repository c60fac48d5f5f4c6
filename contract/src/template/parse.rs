//! Parser of templates.

use super::{MAX_SECTIONS, Part, Tag, Template, TemplateError};

/// Maximum length of a template, in bytes.
const MAX_TEXT: usize = 1 << 20;

impl Template {
    /// Parses a template. The error names the line and column.
    ///
    /// ```
    /// use ptc_contract::template::Template;
    /// let error = Template::parse("Hello\n{{123}}").unwrap_err();
    /// assert_eq!(error.to_string(), "`{{123}}` is not a name: begin with a letter (line 2, column 1)");
    /// ```
    pub fn parse(source: &str) -> Result<Template, TemplateError> {
        if source.len() > MAX_TEXT {
            let message = format!("the template has {} bytes; at most {MAX_TEXT} are allowed", source.len());
            return Err(TemplateError::at(source, 0, message));
        }
        Reader { source, cursor: 0, open: Vec::new(), parts: Vec::new() }.read()
    }
}

struct Reader<'s> {
    source: &'s str,
    /// Position up to which the source is part of the result.
    cursor: usize,
    /// Open sections: their tag, kind, and the parts before them.
    open: Vec<(Tag, bool, Vec<Part>)>,
    parts: Vec<Part>,
}

impl Reader<'_> {
    fn read(mut self) -> Result<Template, TemplateError> {
        while let Some(found) = self.source[self.cursor..].find("{{") {
            let start = self.cursor + found;
            let inside = start + 2;
            let Some(len) = self.source[inside..].find("}}") else {
                return Err(TemplateError::at(self.source, start, "a `{{` without its `}}`"));
            };
            let (source, end) = (self.source, inside + len + 2);
            self.tag(&source[inside..inside + len], start, end)?;
        }
        self.text(self.source.len());
        if let Some((tag, ..)) = self.open.last() {
            let message =
                format!("the section `{}` is not closed; end it with `{{{{/{}}}}}`", tag.name(), tag.name());
            return Err(TemplateError::at(self.source, tag.at, message));
        }
        Ok(Template { source: self.source.into(), parts: self.parts })
    }

    fn text(&mut self, end: usize) {
        if self.cursor < end {
            self.parts.push(Part::Text(self.source[self.cursor..end].to_string()));
        }
        self.cursor = end;
    }

    fn tag(&mut self, inside: &str, start: usize, end: usize) -> Result<(), TemplateError> {
        let body = inside.trim();
        let fail = |message: String| TemplateError::at(self.source, start, message);
        let Some(mark) = body.chars().next() else {
            return Err(fail("`{{}}` has no name".to_string()));
        };
        match mark {
            '#' | '^' => {
                let tag = Tag { path: self.path(&body[1..], inside, start)?, at: start };
                if self.open.len() >= MAX_SECTIONS {
                    return Err(fail(format!("sections nest deeper than {MAX_SECTIONS}")));
                }
                self.alone_on_its_line(start, end);
                self.open.push((tag, mark == '^', std::mem::take(&mut self.parts)));
            }
            '/' => {
                let path = self.path(&body[1..], inside, start)?;
                self.alone_on_its_line(start, end);
                let name = path.join(".");
                let Some((tag, is_inverted, before)) = self.open.pop() else {
                    return Err(TemplateError::at(
                        self.source,
                        start,
                        format!("`{{{{/{name}}}}}` closes no section"),
                    ));
                };
                if tag.path != path {
                    let message = format!("`{{{{/{name}}}}}` closes the section `{}`", tag.name());
                    return Err(TemplateError::at(self.source, start, message));
                }
                let parts = std::mem::replace(&mut self.parts, before);
                self.parts.push(Part::Section { tag, is_inverted, parts });
            }
            '!' => self.alone_on_its_line(start, end),
            '{' | '&' => return Err(fail("nothing is escaped here: write `{{name}}`".to_string())),
            '>' => return Err(fail("there are no partials: write the text here".to_string())),
            '=' => return Err(fail("the braces cannot be changed".to_string())),
            _ => {
                let tag = Tag { path: self.path(body, inside, start)?, at: start };
                self.text(start);
                self.cursor = end;
                self.parts.push(Part::Value(tag));
            }
        }
        Ok(())
    }

    /// Takes the text before a tag and moves past the tag. A tag alone on its line takes the whole line with it.
    fn alone_on_its_line(&mut self, start: usize, end: usize) {
        let before = &self.source[self.cursor..start];
        let line = match before.rfind('\n') {
            Some(at) => Some(self.cursor + at + 1),
            None if self.cursor == 0 || self.source.as_bytes()[self.cursor - 1] == b'\n' => Some(self.cursor),
            None => None,
        };
        let line = line.filter(|line| self.source[*line..start].trim().is_empty());
        let after = self.source[end..].trim_start_matches([' ', '\t', '\r']);
        let rest = self.source.len() - after.len();
        match line {
            Some(line) if after.is_empty() || after.starts_with('\n') => {
                self.text(line);
                self.cursor = (rest + 1).min(self.source.len());
            }
            _ => {
                self.text(start);
                self.cursor = end;
            }
        }
    }

    /// Returns the segments of a dotted name; none for `.`.
    fn path(&self, text: &str, inside: &str, start: usize) -> Result<Vec<String>, TemplateError> {
        let text = text.trim();
        if text == "." {
            return Ok(Vec::new());
        }
        let bad = || {
            let shown: String = inside.trim().chars().take(40).collect();
            let rule = if text.starts_with(|c: char| c.is_ascii_digit()) {
                "begin with a letter"
            } else {
                "letters, digits, `_` and `-`, with dots between"
            };
            TemplateError::at(self.source, start, format!("`{{{{{shown}}}}}` is not a name: {rule}"))
        };
        text.split('.')
            .map(|name| {
                let mut chars = name.chars();
                let is_name = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
                    && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
                if is_name { Ok(name.to_string()) } else { Err(bad()) }
            })
            .collect()
    }
}
