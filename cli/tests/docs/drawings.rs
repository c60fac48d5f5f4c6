//! Draws the SVG files of `docs/drawings` from the texts next to them, once in light and once in dark colours.
//!
//! ```text
//! title What the drawing shows               for readers who cannot see it
//! size 800 300
//! box model 20 40 120 50 accent : A model | on two lines
//! text 20 20 head : A heading
//! arrow model.r tools.l+10 : label           from the right side of one box to the left side of another, 10 lower
//! ```
//!
//! Boxes are `plain`, `accent`, `muted` or `group`; texts are `head`, `label` or `code`.

use crate::{bless, root};
use std::collections::HashMap;
use std::fmt::Write;

/// The colours of a theme.
struct Theme {
    name: &'static str,
    ink: &'static str,
    faint: &'static str,
    line: &'static str,
    plain: &'static str,
    accent: &'static str,
    accent_line: &'static str,
    muted: &'static str,
}

const THEMES: [Theme; 2] = [
    Theme {
        name: "light",
        ink: "#1f2328",
        faint: "#59636e",
        line: "#818b98",
        plain: "#ffffff",
        accent: "#ddf4ff",
        accent_line: "#0969da",
        muted: "#f6f8fa",
    },
    Theme {
        name: "dark",
        ink: "#f0f6fc",
        faint: "#9198a1",
        line: "#6e7681",
        plain: "#0d1117",
        accent: "#0c2d4d",
        accent_line: "#4493f8",
        muted: "#161b22",
    },
];

#[derive(Clone, Copy)]
struct Rect {
    x: f64,
    y: f64,
    w: f64,
    h: f64,
}

/// A point on the border of a box: `model.r+10` is 10 below the middle of the right side.
fn anchor(boxes: &HashMap<&str, Rect>, at: &str) -> Result<(f64, f64, char), String> {
    let (name, side) = at.split_once('.').ok_or_else(|| format!("no side: {at}"))?;
    let rect = boxes.get(name).ok_or_else(|| format!("no box {name}"))?;
    let (side, shift) = side.split_at(1);
    let shift: f64 = if shift.is_empty() { 0.0 } else { number(shift.trim_start_matches('+'))? };
    let (cx, cy) = (rect.x + rect.w / 2.0, rect.y + rect.h / 2.0);
    match side {
        "l" => Ok((rect.x, cy + shift, 'l')),
        "r" => Ok((rect.x + rect.w, cy + shift, 'r')),
        "t" => Ok((cx + shift, rect.y, 't')),
        "b" => Ok((cx + shift, rect.y + rect.h, 'b')),
        other => Err(format!("no side {other}")),
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("no number: {text}"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The SVG of a drawing, in the colours of a theme.
fn draw(source: &str, theme: &Theme) -> Result<String, String> {
    let mut boxes = HashMap::new();
    let (mut size, mut title) = ((0.0, 0.0), "");
    let (mut shapes, mut arrows) = (String::new(), String::new());
    for line in source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (head, label) = line.split_once(" : ").unwrap_or((line, ""));
        let words: Vec<&str> = head.split_whitespace().collect();
        match words[..] {
            ["title", ..] => title = line["title".len()..].trim(),
            ["size", w, h] => size = (number(w)?, number(h)?),
            ["text", x, y, kind] => {
                let code = if kind == "code" { " xml:space=\"preserve\"" } else { "" };
                let _ = writeln!(
                    shapes,
                    "<text x=\"{x}\" y=\"{y}\" class=\"{kind}\"{code}>{}</text>",
                    escaped(label)
                );
            }
            ["box", name, x, y, w, h, kind] => {
                let rect = Rect { x: number(x)?, y: number(y)?, w: number(w)?, h: number(h)? };
                boxes.insert(name, rect);
                boxed(&mut shapes, rect, kind, label);
            }
            ["arrow", from, to] => arrow(&mut arrows, anchor(&boxes, from)?, anchor(&boxes, to)?, label),
            _ => return Err(format!("cannot be read: {line}")),
        }
    }
    let Theme { ink, faint, line, plain, accent, accent_line, muted, .. } = theme;
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" role=\"img\">\n\
         <title>{title}</title>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto-start-reverse\"><path d=\"M0 0 8 4 0 8z\" fill=\"{line}\"/></marker></defs>\n\
         <style>\n\
         text {{ font: 14px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: {ink} }}\n\
         .head {{ font-weight: 600; font-size: 15px }}\n\
         .label {{ font-size: 12px; fill: {faint} }}\n\
         .code {{ font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }}\n\
         .middle {{ text-anchor: middle }}\n\
         rect {{ stroke: {line}; fill: {plain} }}\n\
         rect.accent {{ stroke: {accent_line}; fill: {accent} }}\n\
         rect.muted {{ fill: {muted} }}\n\
         rect.group {{ fill: none; stroke-dasharray: 4 4 }}\n\
         path.arrow {{ stroke: {line}; stroke-width: 1.5; fill: none; marker-end: url(#tip) }}\n\
         </style>\n{shapes}{arrows}</svg>\n",
        w = size.0,
        h = size.1,
        title = escaped(title),
    ))
}

fn boxed(out: &mut String, rect: Rect, kind: &str, label: &str) {
    let Rect { x, y, w, h } = rect;
    let _ =
        writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"6\" class=\"{kind}\"/>");
    let lines: Vec<&str> = label.split(" | ").collect();
    let middle = x + w / 2.0;
    // The caption of a group stands at its top; other boxes have it in their middle.
    let top = if kind == "group" { y + 20.0 } else { y + h / 2.0 + 5.0 - 9.0 * (lines.len() as f64 - 1.0) };
    for (i, line) in lines.iter().enumerate() {
        let class = if i == 0 { "middle" } else { "label middle" };
        let _ = writeln!(
            out,
            "<text x=\"{middle}\" y=\"{}\" class=\"{class}\">{}</text>",
            top + 18.0 * i as f64,
            escaped(line)
        );
    }
}

fn arrow(out: &mut String, from: (f64, f64, char), to: (f64, f64, char), label: &str) {
    let ((x1, y1, side), (x2, y2, _)) = (from, to);
    // At most one corner pair, halfway: lines stay horizontal and vertical.
    let path = if (x1 - x2).abs() < 0.5 || (y1 - y2).abs() < 0.5 {
        format!("M{x1} {y1}L{x2} {y2}")
    } else if side == 'l' || side == 'r' {
        let middle = f64::midpoint(x1, x2);
        format!("M{x1} {y1}H{middle}V{y2}H{x2}")
    } else {
        let middle = f64::midpoint(y1, y2);
        format!("M{x1} {y1}V{middle}H{x2}V{y2}")
    };
    let _ = writeln!(out, "<path class=\"arrow\" d=\"{path}\"/>");
    if !label.is_empty() {
        // With a corner, the label stands on the last part, where no line crosses it.
        let is_straight = (x1 - x2).abs() < 0.5 || (y1 - y2).abs() < 0.5;
        let (x, y) = match is_straight {
            true => (f64::midpoint(x1, x2), f64::midpoint(y1, y2)),
            false => (x1 + (x2 - x1) * 0.75, y2),
        };
        let label = escaped(label);
        // Beside a vertical line, above a horizontal one.
        let _ = if (x1 - x2).abs() < 0.5 {
            writeln!(out, "<text x=\"{}\" y=\"{}\" class=\"label\">{label}</text>", x + 8.0, y + 4.0)
        } else {
            writeln!(out, "<text x=\"{x}\" y=\"{}\" class=\"label middle\">{label}</text>", y - 6.0)
        };
    }
}

#[test]
fn drawings_are_fresh() {
    let folder = root().join("docs/drawings");
    let mut stale = Vec::new();
    let mut drawn = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("docs/drawings").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|ext| ext != "txt") {
            continue;
        }
        let source = std::fs::read_to_string(&path).expect("a text");
        for theme in &THEMES {
            let name = format!("{}-{}.svg", path.file_stem().unwrap_or_default().display(), theme.name);
            let svg = draw(&source, theme).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let target = folder.join(&name);
            let is_fresh = std::fs::read_to_string(&target).is_ok_and(|old| old == svg);
            if !is_fresh && bless() {
                std::fs::write(&target, svg).expect("the drawing can be written");
            } else if !is_fresh {
                stale.push(name.clone());
            }
            drawn.push(name);
        }
    }
    assert!(stale.is_empty(), "PTC_BLESS=1 draws these anew: {stale:?}");
    let files = std::fs::read_dir(&folder).expect("docs/drawings").flatten();
    let others: Vec<String> = files
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".svg") && !drawn.contains(name))
        .collect();
    assert!(others.is_empty(), "no text draws these: {others:?}");
}
