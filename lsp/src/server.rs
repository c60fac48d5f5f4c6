//! The server: takes messages in their order, and sends findings when no message waits.

use crate::complete::complete;
use crate::document::Document;
use crate::fixes;
use crate::hover::hover;
use crate::navigate;
use crate::neighbours::Neighbours;
use crate::project::Project;
use crate::protocol::{AtPosition, Changed, InDocument, InRange, Initialize, Opened, Rename};
use crate::rename;
use crate::wire::{self, ErrorCode, Input, Message};
use ptc_bytecode::{Code, Diagnostic, Span};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

/// Messages that are read before they are answered.
const WAITING: usize = 64;

/// Serves one editor until it ends the connection; true if it did so in the agreed way.
pub fn serve(
    project: Project,
    mut input: impl BufRead + Send + 'static,
    output: impl Write,
) -> io::Result<bool> {
    let (sender, receiver) = sync_channel(WAITING);
    std::thread::Builder::new().name("ptc-lsp-input".to_string()).spawn(move || {
        while let Ok(Some(next)) = wire::read(&mut input) {
            if sender.send(next).is_err() {
                return;
            }
        }
    })?;
    let mut server = Server {
        project,
        neighbours: Neighbours::default(),
        documents: BTreeMap::new(),
        output,
        state: State::Started,
        markdown: false,
    };
    server.run(&receiver)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Started,
    Ready,
    ShutDown,
}

struct Server<W> {
    project: Project,
    neighbours: Neighbours,
    /// Open documents by address.
    documents: BTreeMap<String, Document>,
    output: W,
    state: State,
    /// True if the client shows Markdown.
    markdown: bool,
}

/// Failed request: its code and the reason.
type Failed = (ErrorCode, String);

impl<W: Write> Server<W> {
    fn run(&mut self, messages: &Receiver<Input>) -> io::Result<bool> {
        loop {
            // Findings are only worth their time for the last of several changes.
            let next = match messages.try_recv() {
                Ok(next) => next,
                Err(TryRecvError::Empty) if self.send_findings()? => continue,
                Err(_) => match messages.recv() {
                    Ok(next) => next,
                    Err(_) => return Ok(self.state == State::ShutDown),
                },
            };
            match next {
                Input::Garbage(reason) => {
                    self.send(&wire::failure(&Value::Null, ErrorCode::Parse, &reason))?;
                }
                Input::Message(message) if message.method.as_deref() == Some("exit") => {
                    return Ok(self.state == State::ShutDown);
                }
                Input::Message(message) => self.message(message)?,
            }
        }
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        wire::write(&mut self.output, message)
    }

    fn message(&mut self, message: Message) -> io::Result<()> {
        let Message { id, method, params } = message;
        // Replies: this server asks nothing.
        let Some(method) = method else { return Ok(()) };
        let Some(id) = id else {
            let done = catch_unwind(AssertUnwindSafe(|| self.notified(&method, params)));
            return match done {
                Ok(()) => Ok(()),
                Err(_) => self.report(&format!("`{method}` failed by a mistake of ptc; please report this")),
            };
        };
        let result = match (self.state, &*method) {
            (State::Started, "initialize") => Ok(self.initialize(&params)),
            (State::Started, _) => Err((ErrorCode::NotInitialized, "initialize first".to_string())),
            (State::ShutDown, _) => Err((ErrorCode::InvalidRequest, "the server was shut down".to_string())),
            (State::Ready, "initialize") => {
                Err((ErrorCode::InvalidRequest, "the server is initialized already".to_string()))
            }
            (State::Ready, "shutdown") => {
                self.state = State::ShutDown;
                Ok(Value::Null)
            }
            (State::Ready, _) => catch_unwind(AssertUnwindSafe(|| self.requested(&method, params)))
                .unwrap_or_else(|_| {
                    Err((ErrorCode::Internal, "a mistake of ptc; please report this".to_string()))
                }),
        };
        self.send(&match result {
            Ok(result) => wire::reply(&id, result),
            Err((code, reason)) => wire::failure(&id, code, &reason),
        })
    }

    fn initialize(&mut self, params: &Value) -> Value {
        let params: Initialize = serde_json::from_value(params.clone()).unwrap_or_default();
        let formats = params.capabilities.text_document.hover.content_format;
        self.markdown = formats.iter().any(|format| format == "markdown");
        self.state = State::Ready;
        json!({
            "serverInfo": {"name": "ptc", "version": env!("CARGO_PKG_VERSION")},
            "capabilities": {
                "positionEncoding": "utf-16",
                "textDocumentSync": {"openClose": true, "change": 2, "save": {"includeText": false}},
                "completionProvider": {"triggerCharacters": ["(", "/", ":"]},
                "hoverProvider": true,
                "definitionProvider": true,
                "referencesProvider": true,
                "documentHighlightProvider": true,
                "documentSymbolProvider": true,
                "renameProvider": {"prepareProvider": true},
                "documentFormattingProvider": true,
                "codeActionProvider": {"codeActionKinds": ["quickfix"]},
            },
        })
    }

    fn notified(&mut self, method: &str, params: Value) {
        if self.state != State::Ready {
            return;
        }
        match method {
            "textDocument/didOpen" => {
                if let Ok(Opened { text_document: opened }) = read::<Opened>(params) {
                    self.neighbours.forget();
                    let document = Document::new(opened.uri.clone(), opened.version, opened.text);
                    self.documents.insert(opened.uri, document);
                }
            }
            "textDocument/didChange" => {
                if let Ok(changed) = read::<Changed>(params)
                    && let Some(document) = self.documents.get_mut(&changed.text_document.uri)
                {
                    document.version = changed.text_document.version;
                    changed.content_changes.into_iter().for_each(|change| document.change(change));
                }
            }
            "textDocument/didClose" => {
                if let Ok(InDocument { text_document }) = read::<InDocument>(params)
                    && self.documents.remove(&text_document.uri).is_some()
                {
                    let gone = json!({"uri": text_document.uri, "diagnostics": []});
                    let _ = self.send(&wire::notification("textDocument/publishDiagnostics", gone));
                }
            }
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => self.files_changed(),
            _ => {}
        }
    }

    /// Other documents may use a file that was saved.
    fn files_changed(&mut self) {
        self.neighbours.forget();
        if let Err(problem) = self.project.reload() {
            let _ = self.report(&problem.message);
        }
        self.documents.values_mut().for_each(Document::forget);
    }

    fn requested(&mut self, method: &str, params: Value) -> Result<Value, Failed> {
        let Server { project, neighbours, documents, markdown, .. } = self;
        match method {
            "textDocument/completion" => {
                let (document, at) = placed(documents, params)?;
                Ok(complete(document, at, *markdown, project, neighbours))
            }
            "textDocument/hover" => {
                let (document, at) = placed(documents, params)?;
                Ok(hover(document, at, *markdown, project, neighbours))
            }
            "textDocument/definition" => {
                let (document, at) = placed(documents, params)?;
                Ok(navigate::definition(document, at, project, neighbours))
            }
            "textDocument/references" => {
                let (document, at) = placed(documents, params)?;
                Ok(navigate::references(document, at, project).into())
            }
            "textDocument/documentHighlight" => {
                let (document, at) = placed(documents, params)?;
                Ok(navigate::highlights(document, at, project).into())
            }
            "textDocument/prepareRename" => {
                let (document, at) = placed(documents, params)?;
                let range = rename::prepare(document, at, project).map_err(failed)?;
                Ok(json!(range))
            }
            "textDocument/rename" => {
                let Rename { text_document, position, new_name } = read(params)?;
                let document = open(documents, &text_document.uri)?;
                let at = document.offset(position) as u32;
                rename::rename(document, at, &new_name, project).map_err(failed)
            }
            "textDocument/documentSymbol" => {
                let InDocument { text_document } = read(params)?;
                Ok(navigate::symbols(open(documents, &text_document.uri)?, project).into())
            }
            "textDocument/formatting" => {
                let InDocument { text_document } = read(params)?;
                Ok(format(open(documents, &text_document.uri)?, project))
            }
            "textDocument/codeAction" => {
                let InRange { text_document, range } = read(params)?;
                let document = open(documents, &text_document.uri)?;
                let found = document.findings(project, neighbours).diagnostics.clone();
                Ok(fixes::actions(document, &found, range).into())
            }
            _ => Err((ErrorCode::MethodNotFound, format!("there is no method `{method}`"))),
        }
    }

    /// Sends the findings of one document that changed; false if there is none.
    fn send_findings(&mut self) -> io::Result<bool> {
        let Server { project, neighbours, documents, output, .. } = self;
        let Some(document) = documents.values_mut().find(|document| document.is_unsent) else {
            return Ok(false);
        };
        document.is_unsent = false;
        let checked =
            catch_unwind(AssertUnwindSafe(|| document.findings(project, neighbours).diagnostics.clone()));
        let found = checked.unwrap_or_else(|_| {
            vec![Diagnostic::without_span(
                Code::Internal,
                "checking failed by a mistake of ptc; please report this",
            )]
        });
        let found: Vec<Value> = found.iter().map(|found| fixes::diagnostic(document, found)).collect();
        let mut params = json!({"uri": &document.uri, "diagnostics": found});
        if let Some(version) = document.version {
            params["version"] = version.into();
        }
        wire::write(output, &wire::notification("textDocument/publishDiagnostics", params))?;
        Ok(true)
    }

    /// Writes a line to the log of the editor.
    fn report(&mut self, text: &str) -> io::Result<()> {
        self.send(&wire::notification("window/logMessage", json!({"type": 1, "message": text})))
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Failed> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn failed(reason: String) -> Failed {
    (ErrorCode::RequestFailed, reason)
}

fn open<'d>(documents: &'d mut BTreeMap<String, Document>, uri: &str) -> Result<&'d mut Document, Failed> {
    documents.get_mut(uri).ok_or_else(|| (ErrorCode::InvalidParams, "this document is not open".to_string()))
}

/// Returns a document and the byte of a place in it.
fn placed(documents: &mut BTreeMap<String, Document>, params: Value) -> Result<(&mut Document, u32), Failed> {
    let AtPosition { text_document, position } = read(params)?;
    let document = open(documents, &text_document.uri)?;
    let at = document.offset(position) as u32;
    Ok((document, at))
}

/// Returns the edits that lay a document out as `ptc fmt` does; none for a text that cannot be read.
fn format(document: &Document, project: &Project) -> Value {
    let old = &document.text;
    let Ok(new) = ptc_compiler::format(old, project.runtime.current_limits()) else { return json!([]) };
    if new == *old {
        return json!([]);
    }
    // Only the part that differs: the cursor and marks elsewhere stay.
    let start = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let start = (0..=start).rev().find(|at| old.is_char_boundary(*at) && new.is_char_boundary(*at));
    let start = start.unwrap_or_default();
    let ends = old[start..].chars().rev().zip(new[start..].chars().rev());
    let end: usize = ends.take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let range = document.range(Span::new(start, old.len() - end));
    json!([{"range": range, "newText": &new[start..new.len() - end]}])
}
