//! Pre- and postconditions of functions: the map `{:pre [test…] :post [test…]}` before a body.

use super::{Call, Expander, Forms};
use crate::form::{Form, FormKind};
use ptc_bytecode::{Diagnostic, Span};

impl<'a> Expander<'a> {
    /// Wraps the body in its conditions as assertions; `None` if it has none. A map that is the whole body is a value.
    ///
    /// Left as an ordinary map, it would be computed and dropped, and the program would only seem to be guarded.
    pub(super) fn with_conditions(
        &mut self,
        span: Span,
        body: &'a [Form<'a>],
    ) -> Result<Option<Forms<'a>>, Diagnostic> {
        let [Form { kind: FormKind::Map(entries), .. }, rest @ ..] = body else { return Ok(None) };
        let (before, after) = (tests(entries, "pre"), tests(entries, "post"));
        if rest.is_empty() || (before.is_none() && after.is_none()) {
            return Ok(None);
        }
        let mut items = self.assertions(before.unwrap_or_default())?;
        match after {
            None => items.extend_from_slice(rest),
            Some(after) => {
                // The name that tests use for the result.
                let result = Form::new(span, FormKind::Symbol("%"));
                let mut checked = self.assertions(after)?;
                checked.push(result);
                items.push(self.let_star(span, &[result, self.body(span, rest)], &checked));
            }
        }
        Ok(Some(items))
    }

    fn assertions(&mut self, tests: &'a [Form<'a>]) -> Result<Forms<'a>, Diagnostic> {
        tests
            .iter()
            .map(|test| {
                self.assert_form(Call { name: "assert", span: test.span, args: std::slice::from_ref(test) })
            })
            .collect()
    }
}

/// Returns the tests under a key, if they are in a vector.
fn tests<'a>(entries: &'a [Form<'a>], key: &str) -> Option<&'a [Form<'a>]> {
    entries.chunks_exact(2).find_map(|entry| match (entry[0].kind, entry[1].kind) {
        (FormKind::Keyword(name), FormKind::Vector(tests)) if name == key => Some(tests),
        _ => None,
    })
}
