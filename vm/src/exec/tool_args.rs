//! Arguments of tools: one map with string keys, `-` turned into `_`, keywords as their names.

use crate::budget::Budget;
use crate::fault::{Fault, Stop};
use crate::heap::Heap;
use crate::machine::ToolCall;
use crate::value::Value;
use ptc_bytecode::{Code, Datum, Node, Span, ToolName};
use smallvec::SmallVec;

/// Maximum bytes of one call's arguments as owned data, which may be far larger than the shared values of a program.
const MAX_BYTES: usize = 32 << 20;

/// Bytes of arguments that the instruction itself pays for.
const FREE_BYTES: usize = 1 << 10;

/// Number of copies of its arguments that a waiting call holds: the data, and the text that is sent.
const FORMS: usize = 2;

impl ToolCall {
    /// Makes a call that waits for its reply, with the memory it holds until then.
    pub(crate) fn new(name: String, args: Datum, span: Option<Span>) -> ToolCall {
        let held = FORMS * args.bytes();
        ToolCall { name, args, span, held }
    }

    /// Reserves room: data sent out counts as the program's until the reply. What hosts do with arguments (send, hash, record
    /// them) takes time with their size, so long ones cost a step for each byte.
    pub(super) fn fits(self, heap: &Heap, budget: &mut Budget) -> Result<ToolCall, Stop> {
        heap.room(0, self.held)?;
        budget.owe((self.held / FORMS).saturating_sub(FREE_BYTES) as u64);
        budget.pay_debts()?;
        Ok(self)
    }
}

/// Returns the host's view of the arguments of a call whose tool is written in the code.
pub(super) fn of_call(heap: &Heap, tool: &ToolName, args: &[Value]) -> Result<Datum, Stop> {
    let datum = tool_args(heap, tool.granted_as(), args)?;
    match tool {
        ToolName::Named(_) => Ok(datum),
        // The table has the last word on where the call goes.
        ToolName::Upstream { server, tool } => {
            let is_whole_veiled = datum.is_veiled(datum.nodes().len() - 1);
            let veiled = datum.veiled().to_vec();
            let mut nodes: Vec<Node> = datum.into();
            nodes.pop();
            let mut marks = Vec::new();
            let mut all = Vec::with_capacity(nodes.len() + 5);
            for (key, value) in [("server", server), ("tool", tool)] {
                all.extend([Node::Str(key.into()), Node::Str(value.clone())]);
            }
            let mut entries = 2;
            let starts = tree_starts(&nodes);
            let is_pinned = |at: usize| matches!(&nodes[at], Node::Str(key) | Node::Keyword(key) if matches!(&**key, "server" | "tool"));
            for (i, at) in starts.iter().enumerate().step_by(2).filter(|(_, at)| !is_pinned(**at)) {
                let end = starts.get(i + 2).copied().unwrap_or(nodes.len());
                let kept =
                    veiled.iter().map(|place| *place as usize).filter(|place| (*at..end).contains(place));
                marks.extend(kept.map(|place| (place - *at + all.len()) as u32));
                all.extend_from_slice(&nodes[*at..end]);
                entries += 1;
            }
            marks.extend(is_whole_veiled.then_some(all.len() as u32));
            all.push(Node::Map(entries));
            Ok(Datum::new(all).ok_or_else(not_one_value)?.with_veiled(marks))
        }
    }
}

/// Returns the starts of the trees that these nodes form side by side.
fn tree_starts(nodes: &[Node]) -> Vec<usize> {
    let mut starts: Vec<usize> = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let takes = match node {
            Node::Vector(n) | Node::Set(n) => *n as usize,
            Node::Map(n) => 2 * *n as usize,
            _ => 0,
        };
        let first = starts.len().saturating_sub(takes);
        let start = starts.get(first).copied().unwrap_or(at);
        starts.truncate(first);
        starts.push(start);
    }
    starts
}

fn too_large(name: &str) -> Fault {
    let message = format!("the arguments of `tool/{name}` are larger than {MAX_BYTES} bytes");
    Fault::new(Code::OutputExceeded, message).hint("send the tool less at a time, or a summary")
}

fn not_one_value() -> Stop {
    Fault::new(Code::Internal, "tool arguments are not one value").into()
}

/// Returns the host's view of the arguments of `(tool/name …)`: nothing, one map, or keywords with values; for
/// `tool/call` also the operation as a name, `'crm/get_user`, perhaps with a map of arguments. Arguments of
/// `tool/call` keep their keys as they are: only the host knows how the server spells them.
pub(super) fn tool_args(heap: &Heap, name: &str, given: &[Value]) -> Result<Datum, Stop> {
    let mut nodes = Vec::new();
    let mut veiled = Vec::new();
    given.iter().try_for_each(|arg| heap.check_known(*arg))?;
    // A tool receives clear values, with marks for the veiled ones.
    let clear: SmallVec<[Value; 4]> = given.iter().map(|arg| heap.unveil(*arg)).collect();
    let args = &clear[..];
    // Arguments beyond the memory of a program are not even built.
    let most = usize::try_from(heap.limit()).unwrap_or(usize::MAX) / FORMS;
    let owned = |values: &[Value]| {
        heap.to_marked_nodes(values, most.min(MAX_BYTES)).map_err(|fault| match fault.code() {
            Code::OutputExceeded if most < MAX_BYTES => Stop::room(0, FORMS * most + 1),
            Code::OutputExceeded => too_large(name).into(),
            _ => Stop::from(fault),
        })
    };
    match args {
        [Value::Symbol(operation)] | [Value::Symbol(operation), Value::Map(_)]
            if name == ToolName::CALL && heap.str(*operation).contains('/') =>
        {
            let (server, tool) = heap.str(*operation).split_once('/').unwrap_or_default();
            for (key, value) in [("server", server), ("tool", tool)] {
                nodes.extend([Node::Str(key.into()), Node::Str(value.into())]);
            }
            nodes.push(Node::Str("args".into()));
            match args {
                [_, _] => {
                    let (of_map, marks) = owned(&given[1..])?;
                    veiled.extend(marks.into_iter().map(|place| place + nodes.len() as u32));
                    nodes.extend(of_map);
                }
                _ => nodes.push(Node::Map(0)),
            }
            nodes.push(Node::Map(3));
        }
        [] => nodes.push(Node::Map(0)),
        [Value::Map(_)] => (nodes, veiled) = owned(given)?,
        pairs if pairs.len() % 2 == 0 && pairs.iter().step_by(2).all(|k| matches!(k, Value::Keyword(_))) => {
            (nodes, veiled) = owned(given)?;
            nodes.push(Node::Map(pairs.len() as u32 / 2));
        }
        _ if name == ToolName::CALL => {
            let found = match args {
                [one] => {
                    let mut shown = String::new();
                    match heap.print(given.first().copied().unwrap_or(*one), &mut shown, 200) {
                        Ok(()) => shown,
                        Err(_) => one.type_phrase().to_string(),
                    }
                }
                _ => format!("{} values", args.len()),
            };
            return Err(Fault::new(Code::RuntimeError, format!("tool/call requires a map, got {found}"))
                .hint("`(tool/call {:server \"s\" :tool \"t\" :args {:key value}})`")
                .into());
        }
        _ => {
            let hint = match args {
                [Value::Str(_)] => format!("wrap it in a map: `(tool/{name} {{:query \"…\"}})`"),
                _ => format!("`(tool/{name} {{:key value}})` or `(tool/{name} :key value)`"),
            };
            return Err(Fault::new(
                Code::InvalidToolArgs,
                format!("`tool/{name}` takes one map, or keywords with values"),
            )
            .hint(hint)
            .into());
        }
    }
    let nodes = if name == ToolName::CALL { nodes } else { to_host(nodes) };
    Ok(Datum::new(nodes).ok_or_else(not_one_value)?.with_veiled(veiled))
}

/// Converts arguments for hosts: keys become strings with `_`, keywords their names, at every depth.
///
/// ```
/// use ptc_bytecode::{Datum, Node};
/// let map = |key: Node| Datum::new(vec![key, Node::Int(1), Node::Map(1)]).unwrap();
/// assert_eq!(ptc_vm::host_args(&map(Node::Keyword("user-id".into()))), map(Node::Str("user_id".into())));
/// ```
pub fn host_args(args: &Datum) -> Datum {
    let named = Datum::new(to_host(args.nodes().to_vec())).unwrap_or_else(|| args.clone());
    named.with_veiled(args.veiled().to_vec())
}

/// Turns keys into strings with `_` and keywords into their names, at every depth.
///
/// Nodes come children first, so map keys are only known at the map; a stack of subtree starts tells where the keys
/// are.
fn to_host(mut nodes: Vec<Node>) -> Vec<Node> {
    let mut starts: Vec<usize> = Vec::new();
    for at in 0..nodes.len() {
        let takes = match nodes[at] {
            Node::Vector(n) | Node::Set(n) => n as usize,
            Node::Map(n) => {
                let first = starts.len().saturating_sub(2 * n as usize);
                for pair in starts[first..].chunks(2) {
                    if let Some(key) = pair.first().and_then(|start| nodes.get_mut(*start)) {
                        name_key(key);
                    }
                }
                2 * n as usize
            }
            _ => 0,
        };
        if let Node::Keyword(name) = &mut nodes[at] {
            nodes[at] = Node::Str(std::mem::take(name));
        }
        let start = if takes == 0 { at } else { starts[starts.len() - takes] };
        starts.truncate(starts.len() - takes);
        starts.push(start);
    }
    nodes
}

/// Turns a scalar key into the string the host gets. (A collection as key keeps its data form; the host's
/// conversion prints it.)
fn name_key(key: &mut Node) {
    let text: Box<str> = match &mut *key {
        Node::Str(s) | Node::Keyword(s) if s.contains('-') => s.replace('-', "_").into(),
        Node::Str(s) | Node::Keyword(s) => std::mem::take(s),
        Node::Int(n) => n.to_string().into(),
        Node::Big(digits) => digits.clone(),
        Node::Bool(b) => b.to_string().into(),
        Node::Nil => "nil".into(),
        Node::Float(x) => x.to_string().into(),
        _ => return,
    };
    *key = Node::Str(text);
}
