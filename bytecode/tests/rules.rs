//! Every rule of the verifier, broken once, with the message a reader gets.

mod common;

use common::{arity, block, function, program, sample};
use ptc_bytecode::{Artifact, Code, Const, Datum, Diagnostic, Export, Node, Op, Span, verify};

/// Returns the error of `verify` for an artifact that must not pass.
fn refusal(artifact: Artifact) -> Diagnostic {
    let error = verify(artifact).expect_err("this must not verify");
    assert!(error.hint.is_some(), "{} has no hint", error.message);
    error
}

fn check_artifact(artifact: Artifact, message: &str) {
    let error = refusal(artifact);
    assert_eq!(error.message, message);
    assert_eq!(error.code, code_for(message), "{message}");
}

/// Returns the code of the rule family behind a message.
fn code_for(message: &str) -> Code {
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    match message {
        _ if message.starts_with("constant ") => Code::BadConstant,
        _ if message.starts_with("export ") || message.starts_with("the program ") => Code::BadExport,
        _ if has(&["too tangled"]) => Code::ArtifactLimitExceeded,
        _ if !has(&[", instruction "]) => Code::BadFunction,
        _ if has(&["pays "]) => Code::MissingFuelCheck,
        _ if has(&["reads register"]) => Code::UninitialisedRegister,
        _ if has(&["jumps to", "jumps forward", "code must", "an attempt"]) => Code::BadControlFlow,
        _ => Code::BadInstruction,
    }
}

/// Checks the refusal of code that breaks a rule at one instruction of `main`, which has 4 registers and pays enough.
fn check_ops(ops: &[Op], message: &str) {
    let all = [&[Op::Enter { fuel: 1000 }], ops].concat();
    check_artifact(program(4, all), &format!("in `main`, {message}"));
}

fn check_op(op: Op, message: &str) {
    let name = ptc_bytecode::disassemble(&program(4, vec![op]), None);
    let name = name.lines().nth(1).unwrap().split_whitespace().nth(1).unwrap().to_string();
    let ops =
        [Op::LoadNil { dst: 1 }, Op::LoadNil { dst: 2 }, Op::LoadNil { dst: 3 }, op, Op::Return { src: 1 }];
    check_ops(&ops, &format!("instruction 4 ({name}): {message}"));
}

fn edit(change: impl FnOnce(&mut Artifact)) -> Artifact {
    let mut artifact = sample();
    change(&mut artifact);
    artifact
}

const RETURN: Op = Op::Return { src: 0 };

#[test]
fn ids_exist() {
    check_op(Op::Const { dst: 1, id: 5 }, "names constant 5, but there are 5");
    check_op(Op::GetDef { dst: 1, def: 1 }, "names definition 1, but there are 1");
    check_op(Op::LoadBuiltin { dst: 1, import: 2 }, "names import 2, but there are 2");
    check_op(Op::CallTool { base: 1, n: 0, tool: 9 }, "names tool 9, but there are 1");
    check_op(Op::MakeClosure { dst: 1, first: 1, n: 0, code: 4 }, "names function 4, but there are 1");
    check_op(Op::Jump { to: 6 }, "names instruction 6, but there are 6");
}

#[test]
fn imports_resolve_or_the_artifact_is_stale() {
    let error = refusal(edit(|a| a.imports[1] = "flurb\n".into()));
    assert_eq!(error.code, Code::UnresolvedBuiltin);
    assert_eq!(error.message, "it needs the builtin `flurb·`, which does not exist");
    assert_eq!(error.hint.as_deref(), Some("recompile it with this version of ptc"));
}

#[test]
fn registers_are_inside_the_frame() {
    check_op(Op::Move { dst: 4, src: 1 }, "uses register 4, but the frame has 4");
    check_op(Op::Call { base: 2, n: 2 }, "uses register 4, but the frame has 4");
    check_op(Op::CallDef { base: 255, n: 1, def: 0 }, "uses register 256, but the frame has 4");
    check_op(Op::Assoc { dst: 1, coll: 1, key: 3 }, "uses register 4, but the frame has 4");
    check_op(Op::IterStart { iter: 3, coll: 1 }, "uses register 4, but the frame has 4");
    check_op(Op::NewSet { dst: 1, first: 200, n: 200 }, "uses register 399, but the frame has 4");
    // A run of nothing uses no register.
    let empty = vec![Op::Enter { fuel: 9 }, Op::NewVector { dst: 0, first: 255, n: 0 }, RETURN];
    verify(program(1, empty)).unwrap();
    // A frame larger than a window does not widen it.
    let wide = vec![Op::Enter { fuel: 9 }, Op::NewVector { dst: 0, first: 250, n: 7 }, RETURN];
    check_artifact(
        program(400, wide),
        "in `main`, instruction 1 (new_vector): uses register 256, but the frame has 256",
    );
}

#[test]
fn wide_slots_are_beyond_the_window() {
    check_op(Op::LoadWide { dst: 1, slot: 256 }, "uses wide slot 256, but its frame has none");
    let store = |slot| program(260, vec![Op::Enter { fuel: 9 }, Op::StoreWide { slot, src: 0 }, RETURN]);
    verify(store(259)).unwrap();
    check_artifact(
        store(255),
        "in `main`, instruction 1 (store_wide): uses wide slot 255, but its frame has 256 to 259",
    );
    check_artifact(
        store(260),
        "in `main`, instruction 1 (store_wide): uses wide slot 260, but its frame has 256 to 259",
    );
}

#[test]
fn code_starts_and_ends_as_it_should() {
    check_artifact(program(1, vec![]), "in `main`: there are no instructions");
    check_artifact(
        program(1, vec![RETURN]),
        "in `main`, instruction 0 (return): code must start with `enter`",
    );
    check_ops(&[Op::LoadNil { dst: 1 }], "instruction 1 (load_nil): code must not run past its end");
    check_ops(
        &[Op::JumpIf { test: 0, fuel: 1, to: 0 }],
        "instruction 1 (jump_if): code must not run past its end",
    );
}

#[test]
fn jumps_land_on_an_enter() {
    check_op(Op::Jump { to: 2 }, "jumps to instruction 2, which is not an `enter`");
    let ahead = [
        Op::LoadInt { dst: 1, value: 0 },
        Op::Again { count: 1, dst: 1, src: 1, to: 3 },
        Op::Enter { fuel: 1 },
        RETURN,
    ];
    check_ops(&ahead, "instruction 2 (again): jumps forward to instruction 3");
}

#[test]
fn attempts_are_entered_where_they_begin() {
    let back = [Op::Enter { fuel: 1 }, Op::Attempt { fuel: 0, to: 1 }, RETURN];
    let what = "begins an attempt that goes back, or is part of another";
    check_ops(&back, &format!("instruction 2 (attempt): {what}"));
    let inner = [
        Op::Attempt { fuel: 0, to: 5 },
        Op::Attempt { fuel: 0, to: 4 },
        RETURN,
        Op::Enter { fuel: 1 },
        Op::Enter { fuel: 1 },
        RETURN,
    ];
    check_ops(&inner, &format!("instruction 2 (attempt): {what}"));
    let into = [
        Op::JumpIf { test: 0, fuel: 1, to: 3 },
        Op::Attempt { fuel: 0, to: 5 },
        Op::Enter { fuel: 1 },
        RETURN,
        Op::Enter { fuel: 1 },
        RETURN,
    ];
    check_ops(&into, "instruction 1 (jump_if): jumps to instruction 3, inside an attempt");
}

#[test]
fn captures_fit_the_function() {
    check_op(Op::Capture { dst: 1, index: 0 }, "reads capture 0, but the function has 0");
    check_op(
        Op::MakeClosure { dst: 1, first: 1, n: 2, code: 0 },
        "captures 2 values, but function 0 takes 0",
    );
    check_artifact(
        edit(|a| a.blocks[3].ops[2] = Op::AddInt { dst: 0, a: 2, said: 3, imm: 1 }),
        "in `inner`, instruction 2 (add_int): writes register 0, which holds the function and what it captured",
    );
}

#[test]
fn single_instructions_keep_their_own_rules() {
    check_op(Op::GetHistory { dst: 1, nth: 0 }, "asks for result 0, but 1 to 3 are kept");
    check_op(Op::GetHistory { dst: 1, nth: 4 }, "asks for result 4, but 1 to 3 are kept");
    check_op(Op::NewMap { dst: 1, first: 1, n: 3 }, "makes a map of 3 values, but they come in pairs");
    check_op(Op::NewRecord { dst: 1, first: 1, n: 3, id: 2 }, "has 3 values for 2 keys");
    check_op(
        Op::NewRecord { dst: 1, first: 1, n: 1, id: 0 },
        "needs a list of keys, but constant 0 is something else",
    );
    check_op(Op::Const { dst: 1, id: 2 }, "loads constant 2, which is a list of keys and not a value");
    check_op(Op::GetData { dst: 1, key: 1 }, "needs a string, but constant 1 is something else");
    check_op(Op::GetKey { dst: 1, coll: 1, key: 4 }, "needs a scalar key, but constant 4 is a collection");
    check_op(Op::Apply { base: 1, n: 0 }, "needs a collection of arguments, but has no argument");
}

#[test]
fn constants_are_values() {
    let with = |constant: Const| edit(|a| a.consts.push(constant));
    let data = |node: Node| with(Const::Data(Datum::scalar(node)));
    let keys = |nodes: Vec<Node>| with(Const::Keys(Datum::new(nodes).unwrap()));
    check_artifact(data(Node::Opaque("fn".into())), "constant 5 holds something that is not data");
    for digits in
        ["", "-", "12", "1x", "-9223372036854775808", "01234567890123456789", "+12345678901234567890"]
    {
        check_artifact(
            data(Node::Big(digits.into())),
            "constant 5 holds a large integer that is not written as one",
        );
    }
    check_artifact(
        data(Node::Big("9".repeat(10_001).into())),
        "constant 5 holds a large integer that is not written as one",
    );
    verify(data(Node::Big("-9223372036854775809".into()))).unwrap();
    check_artifact(keys(vec![Node::Int(1)]), "constant 5 should be a vector of keys, but is not a vector");
    check_artifact(
        keys(vec![Node::Vector(0), Node::Vector(1)]),
        "constant 5 should be a vector of keys, but a key is a collection",
    );
    let twice = "constant 5 should be a vector of distinct keys, but one occurs twice";
    check_artifact(keys(vec![Node::Int(1), Node::Float(1.0), Node::Vector(2)]), twice);
    check_artifact(keys(vec![Node::Float(0.0), Node::Float(-0.0), Node::Vector(2)]), twice);
    let two_to_64 = Node::Big("18446744073709551616".into());
    check_artifact(keys(vec![two_to_64, Node::Float(2f64.powi(64)), Node::Vector(2)]), twice);
    check_artifact(keys(vec![Node::Str("a".into()), Node::Str("a".into()), Node::Vector(2)]), twice);
    verify(keys(vec![
        Node::Str("a".into()),
        Node::Keyword("a".into()),
        Node::Symbol("a".into()),
        Node::Vector(3),
    ]))
    .unwrap();
    verify(keys(vec![Node::Float(f64::NAN), Node::Float(f64::NAN), Node::Vector(2)])).unwrap();
}

#[test]
fn functions_and_blocks_belong_together() {
    check_artifact(
        edit(|a| a.functions[2].arities[0].block = 9),
        "function `inner` names block 9, but there are 4",
    );
    check_artifact(
        edit(|a| a.functions[2].arities[0].block = 1),
        "function `inner` shares block 1 with `sum`",
    );
    check_artifact(edit(|a| a.blocks.push(block(1, 0, vec![]))), "code block 4 belongs to no function");
    check_artifact(edit(|a| a.functions[2].arities.clear()), "function `inner` has no arity");
    check_artifact(
        edit(|a| a.functions[1].arities.reverse()),
        "function `sum` has a rest parameter in an arity that is not the last",
    );
    check_artifact(
        edit(|a| a.functions[1].arities[0].rest = true),
        "function `sum` has two arities with a rest parameter",
    );
    check_artifact(
        edit(|a| a.functions[1].arities[1] = arity(1, false, 2, "x")),
        "function `sum` lists its arities out of order",
    );
    check_artifact(
        edit(|a| a.functions[1].arities[0].required = 2),
        "function `sum` takes 2 parameters, but its code takes 1",
    );
    check_artifact(
        edit(|a| (a.functions[1].arities[1].required, a.blocks[2].params) = (101, 102)),
        "function `sum` takes 102 parameters, but at most 101 are possible",
    );
    check_artifact(
        edit(|a| a.blocks[1].regs = 1),
        "function `sum` takes 1 parameters, but its frame has 1 registers",
    );
}

#[test]
fn entry_and_exports_can_be_called_from_outside() {
    check_artifact(edit(|a| a.entry = Some(3)), "the program starts in function 3, but there are 3");
    check_artifact(edit(|a| a.entry = Some(1)), "the program starts in `sum`, which takes parameters");
    check_artifact(
        edit(|a| a.functions[0].captures = 1),
        "the program starts in `fn#0`, which captures values",
    );
    let export = |name: &str, function| Export { name: name.into(), function };
    check_artifact(edit(|a| a.exports.push(export("x", 7))), "export `x` is function 7, but there are 3");
    check_artifact(
        edit(|a| a.exports.push(export("x", 2))),
        "export `x` captures values, which only closures do",
    );
    check_artifact(edit(|a| a.exports.push(export("sum", 1))), "export `sum` is listed twice");
}

#[test]
fn source_positions_are_in_order() {
    let with = |spans: Vec<(u32, Span)>| edit(|a| a.blocks[0].spans = spans);
    let (forward, backward) = (Span { start: 1, end: 2 }, Span { start: 2, end: 1 });
    check_artifact(with(vec![(1, forward), (1, forward)]), "in `fn#0`: source positions are out of order");
    check_artifact(with(vec![(1, backward)]), "in `fn#0`: a source position ends before it starts");
    check_artifact(with(vec![(9, forward)]), "in `fn#0`: a source position belongs to no instruction");
}

#[test]
fn registers_are_written_before_they_are_read() {
    let unwritten = |pc: usize, op: &str, reg: u8| {
        format!("instruction {pc} ({op}): reads register {reg}, which is not written on every path to here")
    };
    check_ops(&[Op::Return { src: 1 }], &unwritten(1, "return", 1));
    // Only one of two branches writes.
    let branch = [
        Op::JumpIf { test: 0, fuel: 1, to: 3 },
        Op::LoadNil { dst: 1 },
        Op::Enter { fuel: 1 },
        Op::Return { src: 1 },
    ];
    check_ops(&branch, &unwritten(4, "return", 1));
    // Registers behind a call's base are undefined after it.
    let call = [Op::LoadNil { dst: 3 }, Op::CallDef { base: 1, n: 0, def: 0 }, Op::Return { src: 3 }];
    check_ops(&call, &unwritten(3, "return", 3));
    // The second iteration finds the values of the first.
    let round = [
        Op::LoadNil { dst: 1 },
        Op::LoadNil { dst: 2 },
        Op::Enter { fuel: 9 },
        Op::Move { dst: 1, src: 2 },
        Op::CallDef { base: 1, n: 0, def: 0 },
        Op::Jump { to: 3 },
    ];
    check_ops(&round, &unwritten(4, "move", 2));
    // An attempt may be given up before it wrote anything, and after a call that overwrote something.
    let early = [
        Op::Attempt { fuel: 9, to: 4 },
        Op::LoadNil { dst: 1 },
        Op::Jump { to: 4 },
        Op::Enter { fuel: 9 },
        Op::Return { src: 1 },
    ];
    check_ops(&early, &unwritten(5, "return", 1));
    let late = [
        Op::LoadNil { dst: 3 },
        Op::Attempt { fuel: 9, to: 5 },
        Op::CallDef { base: 1, n: 0, def: 0 },
        RETURN,
        Op::Enter { fuel: 9 },
        Op::Return { src: 3 },
    ];
    check_ops(&late, &unwritten(6, "return", 3));
    // A finished iteration has no element.
    let over = [
        Op::IterStart { iter: 1, coll: 0 },
        Op::IterNext { dst: 3, iter: 1, fuel: 1, to: 4 },
        Op::Return { src: 3 },
        Op::Enter { fuel: 1 },
        Op::Return { src: 3 },
    ];
    check_ops(&over, &unwritten(5, "return", 3));
}

#[test]
fn code_that_is_never_reached_may_read_anything() {
    let ops = vec![Op::Enter { fuel: 1 }, RETURN, Op::Move { dst: 1, src: 2 }, Op::Return { src: 3 }];
    verify(program(4, ops)).unwrap();
}

#[test]
fn every_block_is_paid_for() {
    let pays = |fuel, branch, rest, message: Option<&str>| {
        let ops = vec![
            Op::Enter { fuel },
            Op::JumpIf { test: 0, fuel: branch, to: 4 },
            Op::LoadNil { dst: 1 },
            RETURN,
            Op::Enter { fuel: rest },
            RETURN,
        ];
        match message {
            None => drop(verify(program(2, ops)).unwrap()),
            Some(message) => check_artifact(program(2, ops), &format!("in `main`, {message}")),
        }
    };
    pays(1, 2, 1, None);
    pays(0, 2, 1, Some("instruction 0 (enter): pays 0 for instructions that cost 1"));
    pays(1, 1, 1, Some("instruction 1 (jump_if): pays 1 for instructions that cost 2"));
    pays(1, 2, 0, Some("instruction 4 (enter): pays 0 for instructions that cost 1"));
    // The block behind a conditional jump may pay by an `Enter` of its own.
    let ops =
        vec![Op::Enter { fuel: 1 }, Op::JumpIf { test: 0, fuel: 0, to: 2 }, Op::Enter { fuel: 1 }, RETURN];
    verify(program(2, ops)).unwrap();
}

#[test]
fn loops_pay() {
    let ops = vec![Op::Enter { fuel: 0 }, Op::Enter { fuel: 1 }, Op::Jump { to: 0 }];
    check_artifact(program(1, ops), "in `main`, instruction 0 (enter): starts a loop, but pays nothing");
}

#[test]
fn long_names_are_cut() {
    let mut artifact = edit(|a| a.functions[0].arities.clear());
    artifact.functions[0] = function(&"n".repeat(5000), 0, vec![]);
    check_artifact(artifact, &format!("function `{}…(+4960 chars)` has no arity", "n".repeat(40)));
}

#[test]
fn a_verified_artifact_knows_its_builtins_and_blocks() {
    let verified = verify(sample()).unwrap();
    let names: Vec<_> = verified.builtins().iter().map(|id| id.row().unwrap().name).collect();
    assert_eq!(names, ["map", "count"]);
    let owners: Vec<_> = verified.blocks().iter().map(|b| (b.function, b.arity, b.captures)).collect();
    assert_eq!(owners, [(0, 0, 0), (1, 0, 0), (1, 1, 0), (2, 0, 1)]);
    assert!(verified.liveness(2).live_before(3).contains(2));
    assert_eq!(verified.into_artifact(), sample());
}
