//! Filling of templates: template + data → text.

use super::{OnMissing, Part, Tag, Template, TemplateError, TemplateStyle};
use crate::data::PromptLimit;
use crate::data::{Shown, View, plain, show, show_public_with};
use crate::firewall::FIREWALLED;
use ptc_bytecode::{Media, Node};

/// Maximum bytes of the filled text: nested sections multiply.
const MAX_OUTPUT: usize = 4 << 20;

/// Maximum number of parts filled in; bounds sections that write nothing.
const MAX_STEPS: usize = 1_000_000;

/// Options for filling a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filling {
    /// Rendering of values in agents that write programs.
    pub style: TemplateStyle,
    /// Treatment of tags without a value.
    pub on_missing: OnMissing,
    /// Limits on the shown part of each value.
    pub limit: PromptLimit,
    /// Flag: the reader writes programs, and so can read values by name.
    pub is_program: bool,
    /// Flag: the text is a program itself, and every value stands in it as a literal.
    pub is_literal: bool,
}

impl Filling {
    /// Options for agents that answer in text: values stand in the text, cut at the limits.
    pub fn text() -> Filling {
        Filling { is_program: false, ..Filling::program() }
    }

    /// Options for agents that write programs: large values and those with parts are named, as `data/rows`.
    pub fn program() -> Filling {
        Filling {
            style: TemplateStyle::Value,
            on_missing: OnMissing::Error,
            limit: PromptLimit::default(),
            is_program: true,
            is_literal: false,
        }
    }

    /// Options for texts that are programs: values are literals of the language, whole and quoted.
    pub fn literal() -> Filling {
        Filling { is_literal: true, ..Filling::text() }
    }
}

impl Template {
    /// Returns the names of tags that the context has no value for; sections may lack one.
    pub fn missing(&self, context: View<'_>) -> Vec<String> {
        let filling = Filling { on_missing: OnMissing::Keep, ..Filling::text() };
        let mut place = |_: Media<'_>| String::new();
        let mut work = Work::new(self, &filling, context, &mut place);
        let _ = work.parts(&self.parts);
        work.missing
    }

    /// Fills the template from a map.
    ///
    /// ```
    /// use ptc_contract::{data::Tree, template::{Filling, Template}};
    /// let template = Template::parse("Sum {{rows}} for {{who}}")?;
    /// let context = ptc_runtime::bridge::json_to_datum(&serde_json::json!({"rows": [1, 2], "who": "Ann"}))?;
    /// let tree = Tree::new(&context);
    /// assert_eq!(template.fill(tree.root(), &Filling::program())?, "Sum data/rows for Ann");
    /// assert_eq!(template.fill(tree.root(), &Filling::text())?, "Sum [1 2] for Ann");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fill(&self, context: View<'_>, filling: &Filling) -> Result<String, TemplateError> {
        self.fill_with(context, filling, &mut |media| media.to_string())
    }

    /// Fills the template with the caller's own placeholder for each image and document.
    pub fn fill_with(
        &self,
        context: View<'_>,
        filling: &Filling,
        place: &mut dyn FnMut(Media<'_>) -> String,
    ) -> Result<String, TemplateError> {
        let mut work = Work::new(self, filling, context, place);
        work.parts(&self.parts)?;
        Ok(work.out)
    }
}

struct Work<'t, 'p> {
    template: &'t Template,
    filling: &'t Filling,
    /// Scopes of name lookups, innermost last.
    scopes: Vec<View<'t>>,
    out: String,
    steps: usize,
    missing: Vec<String>,
    /// Returns the placeholder of an image or document.
    place: &'p mut dyn FnMut(Media<'_>) -> String,
}

impl<'t, 'p> Work<'t, 'p> {
    fn new(
        template: &'t Template,
        filling: &'t Filling,
        context: View<'t>,
        place: &'p mut dyn FnMut(Media<'_>) -> String,
    ) -> Work<'t, 'p> {
        let (scopes, out) = (vec![context], String::new());
        Work { template, filling, scopes, out, steps: 0, missing: Vec::new(), place }
    }

    /// Fills parts. Recurses as deep as sections nest.
    fn parts(&mut self, parts: &'t [Part]) -> Result<(), TemplateError> {
        for part in parts {
            self.steps += 1;
            if self.out.len() > MAX_OUTPUT || self.steps > MAX_STEPS {
                let message = "the filled-in prompt grows past 4 MB or a million parts; its sections run over too much data";
                return Err(TemplateError::at(&self.template.source, 0, message));
            }
            match part {
                Part::Text(text) => self.out.push_str(text),
                Part::Value(tag) => self.value(tag)?,
                Part::Section { tag, is_inverted, parts } => self.section(tag, *is_inverted, parts)?,
            }
        }
        Ok(())
    }

    /// Looks up the value of a name; the flag says that it comes from the context itself and not from an item.
    fn lookup(&self, tag: &Tag) -> Option<(View<'t>, bool)> {
        let Some((first, rest)) = tag.path.split_first() else {
            return self.scopes.last().map(|scope| (*scope, false));
        };
        let found = self
            .scopes
            .iter()
            .enumerate()
            .rev()
            .find_map(|(depth, scope)| Some((scope.get(first)?, depth == 0)));
        let (mut value, is_outer) = found?;
        for name in rest {
            value = value.get(name)?;
        }
        Some((value, is_outer))
    }

    fn value(&mut self, tag: &Tag) -> Result<(), TemplateError> {
        let Some((value, is_outer)) = self.lookup(tag) else {
            let name = tag.name();
            self.missing.push(name.clone());
            if self.filling.on_missing == OnMissing::Keep {
                self.out.push_str(&format!("{{{{{name}}}}}"));
                return Ok(());
            }
            let message = format!("the context has no value for `{{{{{name}}}}}`");
            return Err(self.template.error(tag, message));
        };
        if self.filling.is_literal {
            self.out.push_str(&show(value, Shown::default()));
            return Ok(());
        }
        if tag.is_firewalled() || value.is_veiled() {
            self.out.push_str(FIREWALLED);
            return Ok(());
        }
        let has_parts = matches!(value.node(), Node::Vector(_) | Node::Map(_) | Node::Set(_));
        let text = if has_parts { None } else { Some(plain(value)) };
        let limit = self.filling.limit;
        let is_large = text.as_ref().is_none_or(|text| text.len() > limit.string);
        let can_refer = self.filling.is_program && is_outer && !tag.path.is_empty();
        if can_refer && (is_large || self.filling.style == TemplateStyle::Reference) {
            self.out.push_str(&reference(&tag.path));
            return Ok(());
        }
        match text {
            Some(text) => self.out.push_str(&limit.cut(&text)),
            None => {
                let shown = Shown { items: limit.list, string: limit.string, ..Shown::default() };
                let (text, _) = show_public_with(value, shown, &mut |media| (self.place)(media));
                self.out.push_str(&text);
            }
        }
        Ok(())
    }

    fn section(&mut self, tag: &Tag, is_inverted: bool, parts: &'t [Part]) -> Result<(), TemplateError> {
        let value = self.lookup(tag).map(|(value, _)| value);
        let is_truthy = value.is_some_and(|value| match value.node() {
            Node::Nil | Node::Bool(false) => false,
            Node::Str(text) => !text.is_empty(),
            Node::Vector(n) | Node::Set(n) => *n > 0,
            _ => true,
        });
        if is_inverted {
            return if is_truthy { Ok(()) } else { self.parts(parts) };
        }
        let Some(value) = value.filter(|_| is_truthy) else { return Ok(()) };
        let has_parts = matches!(value.node(), Node::Vector(_) | Node::Set(_) | Node::Map(_));
        if tag.is_firewalled() || (has_parts && value.is_veiled()) {
            // Going on would show firewalled contents.
            self.out.push_str(FIREWALLED);
            return Ok(());
        }
        let items = match value.node() {
            Node::Vector(_) | Node::Set(_) => value.items(),
            Node::Map(_) => vec![value],
            _ => return self.parts(parts),
        };
        for item in items {
            self.scopes.push(item);
            let filled = self.parts(parts);
            self.scopes.pop();
            filled?;
        }
        Ok(())
    }
}

/// Returns the expression by which a program reads a value of the context.
fn reference(path: &[String]) -> String {
    match path {
        [name] => format!("data/{name}"),
        [name, key] => format!("(:{key} data/{name})"),
        [name, keys @ ..] => {
            let keys: Vec<String> = keys.iter().map(|key| format!(":{key}")).collect();
            format!("(get-in data/{name} [{}])", keys.join(" "))
        }
        [] => ".".to_string(),
    }
}
