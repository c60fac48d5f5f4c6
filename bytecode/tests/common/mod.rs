//! Small sound artifacts, for tests to list, encode and break.
#![allow(dead_code)] // each test file uses some of it

pub mod generate;
pub mod walk;

use ptc_bytecode::{
    Arity, Artifact, CodeBlock, Const, Container, Datum, Export, Function, Node, Op, Section, Span, ToolName,
    kind, seal,
};

pub fn arity(required: u8, rest: bool, block: u32, params: &str) -> Arity {
    Arity { required, rest, block, params: params.into() }
}

pub fn function(name: &str, captures: u16, arities: Vec<Arity>) -> Function {
    Function { name: (!name.is_empty()).then(|| name.into()), doc: None, captures, arities }
}

pub fn block(regs: u16, params: u8, ops: Vec<Op>) -> CodeBlock {
    CodeBlock { regs, params, ops, spans: vec![] }
}

/// Builds a program of one function without parameters.
pub fn program(regs: u16, ops: Vec<Op>) -> Artifact {
    Artifact {
        functions: vec![function("main", 0, vec![arity(0, false, 0, "")])],
        blocks: vec![block(regs, 0, ops)],
        entry: Some(0),
        ..tables()
    }
}

/// Builds an artifact with an entry in every table, and no code.
pub fn tables() -> Artifact {
    let keys = vec![Node::Keyword("id".into()), Node::Str("n".into()), Node::Vector(2)];
    Artifact {
        source_hash: [9; 32],
        consts: vec![
            Const::Str("rows".into()),
            Const::Keyword("name".into()),
            Const::Keys(Datum::new(keys).unwrap()),
            Const::Float(2.5),
            Const::Data(Datum::new(vec![Node::Nil, Node::Set(1)]).unwrap()),
        ],
        imports: vec!["map".into(), "count".into()],
        defs: vec!["total".into()],
        tools: vec![ToolName::Named("search".into())],
        ..Artifact::default()
    }
}

/// Source text that fits [`sample`].
pub const SOURCE: &str =
    "(defn sum \"Sums.\"\n  ([xs] (sum xs 0))\n  ([xs start & more] (loop …)))\n(sum data/rows)\n";

/// Builds a library and program with two arities, a closure, a loop, calls and literals.
pub fn sample() -> Artifact {
    let span = |text: &str| {
        let start = SOURCE.find(text).unwrap();
        Span::new(start, start + text.len())
    };
    let main = vec![
        Op::Enter { fuel: 22 },
        Op::GetData { dst: 2, key: 0 },
        Op::CallDef { base: 1, n: 1, def: 0 },
        Op::LoadInt { dst: 2, value: -7 },
        Op::MakeClosure { dst: 3, first: 2, n: 1, code: 2 },
        Op::NewRecord { dst: 4, first: 2, n: 2, id: 2 },
        Op::SetDef { def: 0, src: 4 },
        Op::CallTool { base: 1, n: 0, tool: 0 },
        Op::Return { src: 1 },
    ];
    let one = vec![
        Op::Enter { fuel: 5 },
        Op::Move { dst: 3, src: 1 },
        Op::LoadInt { dst: 4, value: 0 },
        Op::CallBuiltin { base: 2, n: 2, import: 0 },
        Op::Return { src: 2 },
    ];
    let many = vec![
        Op::Enter { fuel: 3 },
        Op::IterStart { iter: 4, coll: 1 },
        Op::LoadInt { dst: 6, value: 0 },
        Op::Enter { fuel: 2 },
        Op::IterNext { dst: 7, iter: 4, fuel: 3, to: 11 },
        Op::GetKey { dst: 7, coll: 7, key: 1 },
        Op::JumpUnlessLessInt { a: 7, imm: 9, fuel: 2, to: 9 },
        Op::Add { dst: 2, a: 2, b: 7 },
        Op::Again { count: 6, dst: 6, src: 6, to: 3 },
        Op::Enter { fuel: 1 },
        Op::Jump { to: 3 },
        Op::Enter { fuel: 1 },
        Op::Return { src: 2 },
    ];
    let inner = vec![
        Op::Enter { fuel: 7 },
        Op::Capture { dst: 2, index: 0 },
        Op::AddInt { dst: 2, a: 2, said: 4, imm: -1 },
        Op::StoreWide { slot: 256, src: 2 },
        Op::LoadWide { dst: 3, slot: 256 },
        Op::NewVector { dst: 2, first: 2, n: 2 },
        Op::Finish { src: 2 },
    ];
    let spans = vec![(0, span("(sum data/rows)")), (1, span("data/rows")), (2, span("(sum data/rows)"))];
    Artifact {
        functions: vec![
            function("", 0, vec![arity(0, false, 0, "")]),
            function("sum", 0, vec![arity(1, false, 1, "xs"), arity(2, true, 2, "xs start & more")]),
            function("inner", 1, vec![arity(1, false, 3, "_")]),
        ],
        blocks: vec![
            CodeBlock { regs: 5, params: 0, ops: main, spans },
            CodeBlock { spans: vec![(1, span("xs] (sum")), (3, span("(sum xs 0)"))], ..block(5, 1, one) },
            block(8, 3, many),
            block(257, 1, inner),
        ],
        entry: Some(0),
        exports: vec![Export { name: "sum".into(), function: 1 }],
        ..tables()
    }
}

/// Wraps any code section in a file with hashes that fit it.
pub fn reseal(code: &[u8]) -> Vec<u8> {
    seal(0, &[Section { kind: kind::CODE, ancillary: false, body: code }])
}

/// Returns the code section of a file.
pub fn code_of(file: &[u8]) -> Vec<u8> {
    Container::read(file).unwrap().section(kind::CODE).unwrap().to_vec()
}
