//! JUnit reports: the XML that CI systems read results of tests from.

use crate::problem::Problem;
use ptc_bytecode::Code;
use ptc_runtime::files::{self, Access};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// Tests that belong together.
pub struct Suite {
    /// Name of the tested thing.
    pub name: String,
    /// Each of them.
    pub cases: Vec<Case>,
}

/// A test and what came of it.
pub struct Case {
    /// Name of the test.
    pub name: String,
    /// Duration, where reports include it.
    pub time: Option<Duration>,
    /// Why it did not pass.
    pub problem: Option<CaseProblem>,
    /// Printed output.
    pub output: String,
}

/// Why a test did not pass.
pub struct CaseProblem {
    /// True if something was not as expected; otherwise the test could not be run to its end.
    pub is_failure: bool,
    /// In a line.
    pub message: String,
    /// In full.
    pub details: String,
}

/// Writes the report, so that nobody sees half of it.
pub fn write(file: &Path, suites: &[Suite]) -> Result<(), Problem> {
    files::replace(file, &[report(suites).as_bytes()], Access::Usual).map_err(|error| {
        Problem::new(Code::InvalidConfig, format!("--junit: cannot write {}: {error}", file.display()))
    })
}

/// The report as a text.
fn report(suites: &[Suite]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all = || suites.iter().flat_map(|suite| &suite.cases);
    // Writing to a String does not fail.
    let _ = writeln!(xml, "<testsuites{}>", counts(all()));
    for suite in suites {
        let name = escaped(&suite.name);
        let _ = writeln!(xml, "  <testsuite name=\"{name}\"{}>", counts(suite.cases.iter()));
        for case in &suite.cases {
            let time = case.time.map_or(String::new(), |time| format!(" time=\"{:.3}\"", time.as_secs_f64()));
            let _ = write!(xml, "    <testcase classname=\"{name}\" name=\"{}\"{time}", escaped(&case.name));
            if case.problem.is_none() && case.output.is_empty() {
                xml.push_str("/>\n");
                continue;
            }
            xml.push_str(">\n");
            if let Some(problem) = &case.problem {
                let tag = if problem.is_failure { "failure" } else { "error" };
                let (message, details) = (escaped(&problem.message), escaped(&problem.details));
                let _ = writeln!(xml, "      <{tag} message=\"{message}\">{details}</{tag}>");
            }
            if !case.output.is_empty() {
                let _ = writeln!(xml, "      <system-out>{}</system-out>", escaped(&case.output));
            }
            xml.push_str("    </testcase>\n");
        }
        xml.push_str("  </testsuite>\n");
    }
    xml.push_str("</testsuites>\n");
    xml
}

fn counts<'c>(cases: impl Iterator<Item = &'c Case>) -> String {
    let (mut tests, mut failures, mut errors) = (0, 0, 0);
    for case in cases {
        tests += 1;
        match &case.problem {
            Some(problem) if problem.is_failure => failures += 1,
            Some(_) => errors += 1,
            None => {}
        }
    }
    format!(" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"")
}

/// Text for an element or an attribute. What XML 1.0 cannot hold, even escaped, becomes U+FFFD.
fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            // `]]>` must not stand in an element.
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            '\'' => xml.push_str("&apos;"),
            // A reader turns these into blanks in attributes unless they are escaped.
            '\n' => xml.push_str("&#10;"),
            '\t' => xml.push_str("&#9;"),
            '\r' => xml.push_str("&#13;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => xml.push('\u{fffd}'),
            c => xml.push(c),
        }
    }
    xml
}

#[cfg(test)]
mod tests {
    use super::{Case, CaseProblem, Suite, escaped, report};

    #[test]
    fn a_report_counts_and_escapes() {
        let case =
            |name: &str, problem| Case { name: name.into(), time: None, problem, output: String::new() };
        let problem = |is_failure| {
            Some(CaseProblem { is_failure, message: "a \"b\" <c>".into(), details: "]]>\n\u{1b}[2J".into() })
        };
        let cases = vec![case("good", None), case("bad & worse", problem(true)), case("odd", problem(false))];
        assert_eq!(
            report(&[Suite { name: "crm_test".into(), cases }]),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuites tests=\"3\" failures=\"1\" errors=\"1\">\n  \
             <testsuite name=\"crm_test\" tests=\"3\" failures=\"1\" errors=\"1\">\n    \
             <testcase classname=\"crm_test\" name=\"good\"/>\n    \
             <testcase classname=\"crm_test\" name=\"bad &amp; worse\">\n      \
             <failure message=\"a &quot;b&quot; &lt;c&gt;\">]]&gt;&#10;\u{fffd}[2J</failure>\n    \
             </testcase>\n    \
             <testcase classname=\"crm_test\" name=\"odd\">\n      \
             <error message=\"a &quot;b&quot; &lt;c&gt;\">]]&gt;&#10;\u{fffd}[2J</error>\n    \
             </testcase>\n  \
             </testsuite>\n\
             </testsuites>\n"
        );
    }

    #[test]
    fn nothing_that_xml_forbids_is_left() {
        let every: String =
            (0..0x3000).filter_map(char::from_u32).chain(['\u{fffe}', '\u{ffff}', '🦀']).collect();
        let xml = escaped(&every);
        let allowed = |c: char| matches!(c, '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
        assert!(xml.chars().all(allowed) && !xml.contains(['<', '>', '"', '\'']));
    }
}
