// auto-generated: "lalrpop 0.23.2"
// sha3: bceb63a95080c7de455d75777ab33a6b16d928833ad98b3f0f5160b09db973b8
// features: 
use crate::form::Form;
use crate::lexer::Stop;
use crate::parse::Reader;
use crate::token::Token;
use lalrpop_util::ErrorRecovery;
#[allow(unused_extern_crates)]
extern crate lalrpop_util as __lalrpop_util;
#[allow(unused_imports)]
use self::__lalrpop_util::state_machine as __state_machine;
#[allow(unused_extern_crates)]
extern crate alloc;

#[rustfmt::skip]
#[allow(explicit_outlives_requirements, non_snake_case, non_camel_case_types, unused_mut, unused_variables, unused_imports, unused_parens, clippy::needless_lifetimes, clippy::type_complexity, clippy::needless_return, clippy::too_many_arguments, clippy::match_single_binding, clippy::clone_on_copy, clippy::unit_arg)]
mod __parse__Program {

    use crate::form::Form;
    use crate::lexer::Stop;
    use crate::parse::Reader;
    use crate::token::Token;
    use lalrpop_util::ErrorRecovery;
    #[allow(unused_extern_crates)]
    extern crate lalrpop_util as __lalrpop_util;
    #[allow(unused_imports)]
    use self::__lalrpop_util::state_machine as __state_machine;
    #[allow(unused_extern_crates)]
    extern crate alloc;
    use super::__ToTriple;
    #[allow(dead_code)]
    pub(crate) enum __Symbol<'a>
     {
        Variant0(&'a Form<'a>),
        Variant1(Token<'a>),
        Variant2(__lalrpop_util::ErrorRecovery<u32, Token<'a>, Stop>),
        Variant3(()),
        Variant4(u32),
        Variant5(Form<'a>),
        Variant6(usize),
        Variant7(&'a [Form<'a>]),
    }
    const __ACTION: &[i8] = &[
        // State 0
        -15, -15, -15, -15, -15, -15, 0, 0, 0, -15, -15, -15, -15, -15, -15,
        // State 1
        41, 8, 10, 12, 6, 3, 0, 0, 0, 7, 4, 11, 5, 9, 42,
        // State 2
        -15, -15, -15, -15, -15, -15, -15, 0, 0, -15, -15, -15, -15, -15, -15,
        // State 3
        -37, -37, -37, -37, -37, -37, 0, 0, 0, -37, -37, -37, -37, -37, 0,
        // State 4
        -37, -37, -37, -37, -37, -37, 0, 0, 0, -37, -37, -37, -37, -37, 0,
        // State 5
        -15, -15, -15, -15, -15, -15, 0, 0, -15, -15, -15, -15, -15, -15, -15,
        // State 6
        -37, -37, -37, -37, -37, -37, 0, 0, 0, -37, -37, -37, -37, -37, 0,
        // State 7
        -15, -15, -15, -15, -15, -15, -15, 0, 0, -15, -15, -15, -15, -15, -15,
        // State 8
        -37, -37, -37, -37, -37, -37, 0, 0, 0, -37, -37, -37, -37, -37, 0,
        // State 9
        -15, -15, -15, -15, -15, -15, 0, -15, 0, -15, -15, -15, -15, -15, -15,
        // State 10
        -37, -37, -37, -37, -37, -37, 0, 0, 0, -37, -37, -37, -37, -37, 0,
        // State 11
        -15, -15, -15, -15, -15, -15, 0, 0, -15, -15, -15, -15, -15, -15, -15,
        // State 12
        41, 8, 10, 12, 6, 3, 43, 0, 0, 7, 4, 11, 5, 9, 42,
        // State 13
        46, 27, 29, 30, 25, 23, 0, 0, 0, 26, 4, 11, 24, 28, 0,
        // State 14
        46, 27, 29, 30, 25, 23, 0, 0, 0, 26, 4, 11, 24, 28, 0,
        // State 15
        41, 8, 10, 12, 6, 3, 0, 0, 48, 7, 4, 11, 5, 9, 42,
        // State 16
        46, 27, 29, 30, 25, 23, 0, 0, 0, 26, 4, 11, 24, 28, 0,
        // State 17
        41, 8, 10, 12, 6, 3, 50, 0, 0, 7, 4, 11, 5, 9, 42,
        // State 18
        46, 27, 29, 30, 25, 23, 0, 0, 0, 26, 4, 11, 24, 28, 0,
        // State 19
        41, 8, 10, 12, 6, 3, 0, 52, 0, 7, 4, 11, 5, 9, 42,
        // State 20
        46, 27, 29, 30, 25, 23, 0, 0, 0, 26, 4, 11, 24, 28, 0,
        // State 21
        41, 8, 10, 12, 6, 3, 0, 0, 54, 7, 4, 11, 5, 9, 42,
        // State 22
        -15, -15, -15, -15, -15, -15, -15, 0, 0, -15, -15, -15, -15, -15, -15,
        // State 23
        -37, -37, -37, -37, -37, -37, 0, 0, 0, -37, -37, -37, -37, -37, 0,
        // State 24
        -15, -15, -15, -15, -15, -15, 0, 0, -15, -15, -15, -15, -15, -15, -15,
        // State 25
        -37, -37, -37, -37, -37, -37, 0, 0, 0, -37, -37, -37, -37, -37, 0,
        // State 26
        -15, -15, -15, -15, -15, -15, -15, 0, 0, -15, -15, -15, -15, -15, -15,
        // State 27
        -37, -37, -37, -37, -37, -37, 0, 0, 0, -37, -37, -37, -37, -37, 0,
        // State 28
        -15, -15, -15, -15, -15, -15, 0, -15, 0, -15, -15, -15, -15, -15, -15,
        // State 29
        -15, -15, -15, -15, -15, -15, 0, 0, -15, -15, -15, -15, -15, -15, -15,
        // State 30
        41, 8, 10, 12, 6, 3, 55, 0, 0, 7, 4, 11, 5, 9, 42,
        // State 31
        46, 27, 29, 30, 25, 23, 0, 0, 0, 26, 4, 11, 24, 28, 0,
        // State 32
        41, 8, 10, 12, 6, 3, 0, 0, 57, 7, 4, 11, 5, 9, 42,
        // State 33
        46, 27, 29, 30, 25, 23, 0, 0, 0, 26, 4, 11, 24, 28, 0,
        // State 34
        41, 8, 10, 12, 6, 3, 59, 0, 0, 7, 4, 11, 5, 9, 42,
        // State 35
        46, 27, 29, 30, 25, 23, 0, 0, 0, 26, 4, 11, 24, 28, 0,
        // State 36
        41, 8, 10, 12, 6, 3, 0, 61, 0, 7, 4, 11, 5, 9, 42,
        // State 37
        41, 8, 10, 12, 6, 3, 0, 0, 62, 7, 4, 11, 5, 9, 42,
        // State 38
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        // State 39
        -25, -25, -25, -25, -25, -25, -25, -25, -25, -25, -25, -25, -25, -25, -25,
        // State 40
        -16, -16, -16, -16, -16, -16, -16, -16, -16, -16, -16, -16, -16, -16, -16,
        // State 41
        -26, -26, -26, -26, -26, -26, -26, -26, -26, -26, -26, -26, -26, -26, -26,
        // State 42
        -21, -21, -21, -21, -21, -21, -21, -21, -21, -21, -21, -21, -21, -21, -21,
        // State 43
        -38, -38, -38, -38, -38, -38, 0, 0, 0, -38, -38, -38, -38, -38, 0,
        // State 44
        -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4,
        // State 45
        -27, -27, -27, -27, -27, -27, -27, -27, -27, -27, -27, -27, -27, -27, -27,
        // State 46
        -24, -24, -24, -24, -24, -24, -24, -24, -24, -24, -24, -24, -24, -24, -24,
        // State 47
        -20, -20, -20, -20, -20, -20, -20, -20, -20, -20, -20, -20, -20, -20, -20,
        // State 48
        -22, -22, -22, -22, -22, -22, -22, -22, -22, -22, -22, -22, -22, -22, -22,
        // State 49
        -17, -17, -17, -17, -17, -17, -17, -17, -17, -17, -17, -17, -17, -17, -17,
        // State 50
        -23, -23, -23, -23, -23, -23, -23, -23, -23, -23, -23, -23, -23, -23, -23,
        // State 51
        -18, -18, -18, -18, -18, -18, -18, -18, -18, -18, -18, -18, -18, -18, -18,
        // State 52
        -5, -5, -5, -5, -5, -5, -5, -5, -5, -5, -5, -5, -5, -5, -5,
        // State 53
        -19, -19, -19, -19, -19, -19, -19, -19, -19, -19, -19, -19, -19, -19, -19,
        // State 54
        -32, -32, -32, -32, -32, -32, -32, -32, -32, -32, -32, -32, -32, -32, -32,
        // State 55
        -35, -35, -35, -35, -35, -35, -35, -35, -35, -35, -35, -35, -35, -35, -35,
        // State 56
        -31, -31, -31, -31, -31, -31, -31, -31, -31, -31, -31, -31, -31, -31, -31,
        // State 57
        -33, -33, -33, -33, -33, -33, -33, -33, -33, -33, -33, -33, -33, -33, -33,
        // State 58
        -28, -28, -28, -28, -28, -28, -28, -28, -28, -28, -28, -28, -28, -28, -28,
        // State 59
        -34, -34, -34, -34, -34, -34, -34, -34, -34, -34, -34, -34, -34, -34, -34,
        // State 60
        -29, -29, -29, -29, -29, -29, -29, -29, -29, -29, -29, -29, -29, -29, -29,
        // State 61
        -30, -30, -30, -30, -30, -30, -30, -30, -30, -30, -30, -30, -30, -30, -30,
    ];
    fn __action(state: i8, integer: usize) -> i8 {
        __ACTION[(state as usize) * 15 + integer]
    }
    const __EOF_ACTION: &[i8] = &[
        // State 0
        -15,
        // State 1
        -36,
        // State 2
        0,
        // State 3
        0,
        // State 4
        0,
        // State 5
        0,
        // State 6
        0,
        // State 7
        0,
        // State 8
        0,
        // State 9
        0,
        // State 10
        0,
        // State 11
        0,
        // State 12
        0,
        // State 13
        0,
        // State 14
        0,
        // State 15
        0,
        // State 16
        0,
        // State 17
        0,
        // State 18
        0,
        // State 19
        0,
        // State 20
        0,
        // State 21
        0,
        // State 22
        0,
        // State 23
        0,
        // State 24
        0,
        // State 25
        0,
        // State 26
        0,
        // State 27
        0,
        // State 28
        0,
        // State 29
        0,
        // State 30
        0,
        // State 31
        0,
        // State 32
        0,
        // State 33
        0,
        // State 34
        0,
        // State 35
        0,
        // State 36
        0,
        // State 37
        0,
        // State 38
        -39,
        // State 39
        -25,
        // State 40
        -16,
        // State 41
        -26,
        // State 42
        -21,
        // State 43
        0,
        // State 44
        -4,
        // State 45
        -27,
        // State 46
        -24,
        // State 47
        -20,
        // State 48
        -22,
        // State 49
        -17,
        // State 50
        -23,
        // State 51
        -18,
        // State 52
        -5,
        // State 53
        -19,
        // State 54
        -32,
        // State 55
        -35,
        // State 56
        -31,
        // State 57
        -33,
        // State 58
        -28,
        // State 59
        -34,
        // State 60
        -29,
        // State 61
        -30,
    ];
    fn __goto(state: i8, nt: usize) -> i8 {
        match nt {
            3 => match state {
                13..=14 | 16 | 18 | 20 | 31 | 33 | 35 => 43,
                _ => 39,
            },
            5 => match state {
                2 => 12,
                5 => 15,
                7 => 17,
                9 => 19,
                11 => 21,
                22 => 30,
                24 => 32,
                26 => 34,
                28 => 36,
                29 => 37,
                _ => 1,
            },
            6 => match state {
                14 => 46,
                16 => 48,
                18 => 50,
                20 => 52,
                31 => 55,
                33 => 57,
                35 => 59,
                _ => 44,
            },
            7 => 38,
            8 => match state {
                4 => 14,
                6 => 16,
                8 => 18,
                10 => 20,
                23 => 31,
                25 => 33,
                27 => 35,
                _ => 13,
            },
            _ => 0,
        }
    }
    #[allow(clippy::needless_raw_string_hashes)]
    const __TERMINAL: &[&str] = &[
        r###""a literal or name""###,
        r###""(""###,
        r###""[""###,
        r###""{""###,
        r###""#{""###,
        r###""#(""###,
        r###"")""###,
        r###""]""###,
        r###""}""###,
        r###""'""###,
        r###""#_""###,
        r###""^""###,
        r###""#inst""###,
        r###""@""###,
    ];
    fn __expected_tokens(__state: i8) -> alloc::vec::Vec<alloc::string::String> {
        __TERMINAL.iter().enumerate().filter_map(|(index, terminal)| {
            let next_state = __action(__state, index);
            if next_state == 0 {
                None
            } else {
                Some(alloc::string::ToString::to_string(terminal))
            }
        }).collect()
    }
    fn __expected_tokens_from_states<
        'a,
        '__1,
    >(
        __states: &[i8],
        _: core::marker::PhantomData<(&'a ())>,
    ) -> alloc::vec::Vec<alloc::string::String>
    where
        'a: '__1,
    {
        __TERMINAL.iter().enumerate().filter_map(|(index, terminal)| {
            if __accepts(None, __states, Some(index), core::marker::PhantomData::<(&())>) {
                Some(alloc::string::ToString::to_string(terminal))
            } else {
                None
            }
        }).collect()
    }
    struct __StateMachine<'a, '__1>
    where 'a: '__1
    {
        reader: &'__1 mut Reader<'a>,
        __phantom: core::marker::PhantomData<(&'a ())>,
    }
    impl<'a, '__1> __state_machine::ParserDefinition for __StateMachine<'a, '__1>
    where 'a: '__1
    {
        type Location = u32;
        type Error = Stop;
        type Token = Token<'a>;
        type TokenIndex = usize;
        type Symbol = __Symbol<'a>;
        type Success = &'a [Form<'a>];
        type StateIndex = i8;
        type Action = i8;
        type ReduceIndex = i8;
        type NonterminalIndex = usize;

        #[inline]
        fn start_location(&self) -> Self::Location {
              Default::default()
        }

        #[inline]
        fn start_state(&self) -> Self::StateIndex {
              0
        }

        #[inline]
        fn token_to_index(&self, token: &Self::Token) -> Option<usize> {
            __token_to_integer(token, core::marker::PhantomData::<(&())>)
        }

        #[inline]
        fn action(&self, state: i8, integer: usize) -> i8 {
            __action(state, integer)
        }

        #[inline]
        fn error_action(&self, state: i8) -> i8 {
            __action(state, 15 - 1)
        }

        #[inline]
        fn eof_action(&self, state: i8) -> i8 {
            __EOF_ACTION[state as usize]
        }

        #[inline]
        fn goto(&self, state: i8, nt: usize) -> i8 {
            __goto(state, nt)
        }

        fn token_to_symbol(&self, token_index: usize, token: Self::Token) -> Self::Symbol {
            __token_to_symbol(token_index, token, core::marker::PhantomData::<(&())>)
        }

        fn expected_tokens(&self, state: i8) -> alloc::vec::Vec<alloc::string::String> {
            __expected_tokens(state)
        }

        fn expected_tokens_from_states(&self, states: &[i8]) -> alloc::vec::Vec<alloc::string::String> {
            __expected_tokens_from_states(states, core::marker::PhantomData::<(&())>)
        }

        #[inline]
        fn uses_error_recovery(&self) -> bool {
            true
        }

        #[inline]
        fn error_recovery_symbol(
            &self,
            recovery: __state_machine::ErrorRecovery<Self>,
        ) -> Self::Symbol {
            __Symbol::Variant2(recovery)
        }

        fn reduce(
            &mut self,
            action: i8,
            start_location: Option<&Self::Location>,
            states: &mut alloc::vec::Vec<i8>,
            symbols: &mut alloc::vec::Vec<__state_machine::SymbolTriple<Self>>,
        ) -> Option<__state_machine::ParseResult<Self>> {
            __reduce(
                self.reader,
                action,
                start_location,
                states,
                symbols,
                core::marker::PhantomData::<(&())>,
            )
        }

        fn simulate_reduce(&self, action: i8) -> __state_machine::SimulatedReduce<Self> {
            __simulate_reduce(action, core::marker::PhantomData::<(&())>)
        }
    }
    fn __token_to_integer<
        'a,
    >(
        __token: &Token<'a>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Option<usize>
    {
        #[warn(unused_variables)]
        match __token {
            Token::Atom(_) if true => Some(0),
            Token::ListOpen if true => Some(1),
            Token::VectorOpen if true => Some(2),
            Token::MapOpen if true => Some(3),
            Token::SetOpen if true => Some(4),
            Token::FnOpen if true => Some(5),
            Token::ListClose if true => Some(6),
            Token::VectorClose if true => Some(7),
            Token::MapClose if true => Some(8),
            Token::Quote if true => Some(9),
            Token::Drop if true => Some(10),
            Token::Meta if true => Some(11),
            Token::Inst if true => Some(12),
            Token::Deref if true => Some(13),
            _ => None,
        }
    }
    fn __token_to_symbol<
        'a,
    >(
        __token_index: usize,
        __token: Token<'a>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> __Symbol<'a>
    {
        #[allow(clippy::manual_range_patterns)]match __token_index {
            0 => match __token {
                Token::Atom(__tok0) if true => __Symbol::Variant0(__tok0),
                _ => unreachable!(),
            },
            1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 => __Symbol::Variant1(__token),
            _ => unreachable!(),
        }
    }
    fn __simulate_reduce<
        'a,
        '__1,
    >(
        __reduce_index: i8,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> __state_machine::SimulatedReduce<__StateMachine<'a, '__1>>
    where
        'a: '__1,
    {
        match __reduce_index {
            0 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 0,
                    nonterminal_produced: 0,
                }
            }
            1 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 0,
                    nonterminal_produced: 1,
                }
            }
            2 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 0,
                    nonterminal_produced: 2,
                }
            }
            3 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 3,
                }
            }
            4 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 3,
                }
            }
            5 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 1,
                    nonterminal_produced: 4,
                }
            }
            6 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 4,
                }
            }
            7 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 4,
                }
            }
            8 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 4,
                }
            }
            9 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 4,
                }
            }
            10 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 4,
                }
            }
            11 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 4,
                }
            }
            12 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 4,
                }
            }
            13 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 4,
                }
            }
            14 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 0,
                    nonterminal_produced: 5,
                }
            }
            15 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 2,
                    nonterminal_produced: 5,
                }
            }
            16 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 4,
                    nonterminal_produced: 5,
                }
            }
            17 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 4,
                    nonterminal_produced: 5,
                }
            }
            18 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 4,
                    nonterminal_produced: 5,
                }
            }
            19 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 4,
                    nonterminal_produced: 5,
                }
            }
            20 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 4,
                    nonterminal_produced: 5,
                }
            }
            21 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 4,
                    nonterminal_produced: 5,
                }
            }
            22 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 4,
                    nonterminal_produced: 5,
                }
            }
            23 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 4,
                    nonterminal_produced: 5,
                }
            }
            24 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 2,
                    nonterminal_produced: 5,
                }
            }
            25 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 2,
                    nonterminal_produced: 5,
                }
            }
            26 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 1,
                    nonterminal_produced: 6,
                }
            }
            27 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 6,
                }
            }
            28 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 6,
                }
            }
            29 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 6,
                }
            }
            30 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 6,
                }
            }
            31 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 6,
                }
            }
            32 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 6,
                }
            }
            33 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 6,
                }
            }
            34 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 3,
                    nonterminal_produced: 6,
                }
            }
            35 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 1,
                    nonterminal_produced: 7,
                }
            }
            36 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 0,
                    nonterminal_produced: 8,
                }
            }
            37 => {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop: 2,
                    nonterminal_produced: 8,
                }
            }
            38 => __state_machine::SimulatedReduce::Accept,
            _ => panic!("invalid reduction index {__reduce_index}")
        }
    }
    pub struct ProgramParser {
        _priv: (),
    }

    impl Default for ProgramParser { fn default() -> Self { Self::new() } }
    impl ProgramParser {
        pub fn new() -> ProgramParser {
            ProgramParser {
                _priv: (),
            }
        }

        #[allow(dead_code)]
        pub fn parse<
            'a,
            __TOKEN: __ToTriple<'a, >,
            __TOKENS: IntoIterator<Item=__TOKEN>,
        >(
            &self,
            reader: &mut Reader<'a>,
            __tokens0: __TOKENS,
        ) -> Result<&'a [Form<'a>], __lalrpop_util::ParseError<u32, Token<'a>, Stop>>
        {
            let __tokens = __tokens0.into_iter();
            let mut __tokens = __tokens.map(|t| __ToTriple::to_triple(t));
            __state_machine::Parser::drive(
                __StateMachine {
                    reader,
                    __phantom: core::marker::PhantomData::<(&())>,
                },
                __tokens,
            )
        }
    }
    fn __accepts<
        'a,
        '__1,
    >(
        __error_state: Option<i8>,
        __states: &[i8],
        __opt_integer: Option<usize>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> bool
    where
        'a: '__1,
    {
        let mut __states = __states.to_vec();
        __states.extend(__error_state);
        loop {
            let mut __states_len = __states.len();
            let __top = __states[__states_len - 1];
            let __action = match __opt_integer {
                None => __EOF_ACTION[__top as usize],
                Some(__integer) => __action(__top, __integer),
            };
            if __action == 0 { return false; }
            if __action > 0 { return true; }
            let (__to_pop, __nt) = match __simulate_reduce(-(__action + 1), core::marker::PhantomData::<(&())>) {
                __state_machine::SimulatedReduce::Reduce {
                    states_to_pop, nonterminal_produced
                } => (states_to_pop, nonterminal_produced),
                __state_machine::SimulatedReduce::Accept => return true,
            };
            __states_len -= __to_pop;
            __states.truncate(__states_len);
            let __top = __states[__states_len - 1];
            let __next_state = __goto(__top, __nt);
            __states.push(__next_state);
        }
    }
    fn __reduce<
        'a,
    >(
        reader: &mut Reader<'a>,
        __action: i8,
        __lookahead_start: Option<&u32>,
        __states: &mut alloc::vec::Vec<i8>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> Option<Result<&'a [Form<'a>],__lalrpop_util::ParseError<u32, Token<'a>, Stop>>>
    {
        let (__pop_states, __nonterminal) = match __action {
            0 => {
                __reduce0(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            1 => {
                __reduce1(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            2 => {
                __reduce2(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            3 => {
                __reduce3(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            4 => {
                __reduce4(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            5 => {
                __reduce5(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            6 => {
                __reduce6(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            7 => {
                __reduce7(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            8 => {
                __reduce8(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            9 => {
                __reduce9(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            10 => {
                __reduce10(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            11 => {
                __reduce11(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            12 => {
                __reduce12(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            13 => {
                __reduce13(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            14 => {
                __reduce14(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            15 => {
                __reduce15(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            16 => {
                __reduce16(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            17 => {
                __reduce17(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            18 => {
                __reduce18(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            19 => {
                __reduce19(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            20 => {
                __reduce20(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            21 => {
                __reduce21(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            22 => {
                __reduce22(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            23 => {
                __reduce23(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            24 => {
                __reduce24(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            25 => {
                __reduce25(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            26 => {
                __reduce26(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            27 => {
                __reduce27(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            28 => {
                __reduce28(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            29 => {
                __reduce29(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            30 => {
                __reduce30(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            31 => {
                __reduce31(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            32 => {
                __reduce32(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            33 => {
                __reduce33(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            34 => {
                __reduce34(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            35 => {
                __reduce35(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            36 => {
                __reduce36(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            37 => {
                __reduce37(reader, __lookahead_start, __symbols, core::marker::PhantomData::<(&())>)
            }
            38 => {
                // __Program = Program => ActionFn(0);
                let __sym0 = __pop_Variant7(__symbols);
                let __start = __sym0.0.clone();
                let __end = __sym0.2.clone();
                let __nt = super::__action0::<>(reader, __sym0);
                return Some(Ok(__nt));
            }
            _ => panic!("invalid action code {__action}")
        };
        let __states_len = __states.len();
        __states.truncate(__states_len - __pop_states);
        let __state = *__states.last().unwrap();
        let __next_state = __goto(__state, __nonterminal);
        __states.push(__next_state);
        None
    }
    #[inline(never)]
    fn __symbol_type_mismatch() -> ! {
        panic!("symbol type mismatch")
    }
    fn __pop_Variant3<
      'a,
    >(
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>
    ) -> (u32, (), u32)
     {
        match __symbols.pop() {
            Some((__l, __Symbol::Variant3(__v), __r)) => (__l, __v, __r),
            _ => __symbol_type_mismatch()
        }
    }
    fn __pop_Variant5<
      'a,
    >(
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>
    ) -> (u32, Form<'a>, u32)
     {
        match __symbols.pop() {
            Some((__l, __Symbol::Variant5(__v), __r)) => (__l, __v, __r),
            _ => __symbol_type_mismatch()
        }
    }
    fn __pop_Variant1<
      'a,
    >(
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>
    ) -> (u32, Token<'a>, u32)
     {
        match __symbols.pop() {
            Some((__l, __Symbol::Variant1(__v), __r)) => (__l, __v, __r),
            _ => __symbol_type_mismatch()
        }
    }
    fn __pop_Variant2<
      'a,
    >(
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>
    ) -> (u32, __lalrpop_util::ErrorRecovery<u32, Token<'a>, Stop>, u32)
     {
        match __symbols.pop() {
            Some((__l, __Symbol::Variant2(__v), __r)) => (__l, __v, __r),
            _ => __symbol_type_mismatch()
        }
    }
    fn __pop_Variant4<
      'a,
    >(
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>
    ) -> (u32, u32, u32)
     {
        match __symbols.pop() {
            Some((__l, __Symbol::Variant4(__v), __r)) => (__l, __v, __r),
            _ => __symbol_type_mismatch()
        }
    }
    fn __pop_Variant6<
      'a,
    >(
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>
    ) -> (u32, usize, u32)
     {
        match __symbols.pop() {
            Some((__l, __Symbol::Variant6(__v), __r)) => (__l, __v, __r),
            _ => __symbol_type_mismatch()
        }
    }
    fn __pop_Variant7<
      'a,
    >(
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>
    ) -> (u32, &'a [Form<'a>], u32)
     {
        match __symbols.pop() {
            Some((__l, __Symbol::Variant7(__v), __r)) => (__l, __v, __r),
            _ => __symbol_type_mismatch()
        }
    }
    fn __pop_Variant0<
      'a,
    >(
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>
    ) -> (u32, &'a Form<'a>, u32)
     {
        match __symbols.pop() {
            Some((__l, __Symbol::Variant0(__v), __r)) => (__l, __v, __r),
            _ => __symbol_type_mismatch()
        }
    }
    fn __reduce0<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // () =  => ActionFn(22);
        let __start = __lookahead_start.cloned().or_else(|| __symbols.last().map(|s| s.2.clone())).unwrap_or_default();
        let __end = __start.clone();
        let __nt = super::__action22::<>(reader, &__start, &__end);
        __symbols.push((__start, __Symbol::Variant3(__nt), __end));
        (0, 0)
    }
    fn __reduce1<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // @L =  => ActionFn(21);
        let __start = __lookahead_start.cloned().or_else(|| __symbols.last().map(|s| s.2.clone())).unwrap_or_default();
        let __end = __start.clone();
        let __nt = super::__action21::<>(reader, &__start, &__end);
        __symbols.push((__start, __Symbol::Variant4(__nt), __end));
        (0, 1)
    }
    fn __reduce2<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // @R =  => ActionFn(20);
        let __start = __lookahead_start.cloned().or_else(|| __symbols.last().map(|s| s.2.clone())).unwrap_or_default();
        let __end = __start.clone();
        let __nt = super::__action20::<>(reader, &__start, &__end);
        __symbols.push((__start, __Symbol::Variant4(__nt), __end));
        (0, 2)
    }
    fn __reduce3<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Dropped = "#_", Skipped, Operand => ActionFn(16);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant5(__symbols);
        let __sym1 = __pop_Variant3(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action16::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant3(__nt), __end));
        (3, 3)
    }
    fn __reduce4<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Dropped = "^", Skipped, Operand => ActionFn(17);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant5(__symbols);
        let __sym1 = __pop_Variant3(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action17::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant3(__nt), __end));
        (3, 3)
    }
    fn __reduce5<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Form = "a literal or name" => ActionFn(6);
        let __sym0 = __pop_Variant0(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym0.2.clone();
        let __nt = super::__action6::<>(reader, __sym0);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (1, 4)
    }
    fn __reduce6<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Form = "(", Items, ")" => ActionFn(33);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant1(__symbols);
        let __sym1 = __pop_Variant6(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action33::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (3, 4)
    }
    fn __reduce7<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Form = "[", Items, "]" => ActionFn(34);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant1(__symbols);
        let __sym1 = __pop_Variant6(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action34::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (3, 4)
    }
    fn __reduce8<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Form = "{", Items, "}" => ActionFn(35);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant1(__symbols);
        let __sym1 = __pop_Variant6(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action35::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (3, 4)
    }
    fn __reduce9<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Form = "#{", Items, "}" => ActionFn(36);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant1(__symbols);
        let __sym1 = __pop_Variant6(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action36::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (3, 4)
    }
    fn __reduce10<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Form = "#(", Items, ")" => ActionFn(37);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant1(__symbols);
        let __sym1 = __pop_Variant6(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action37::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (3, 4)
    }
    fn __reduce11<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Form = "'", Skipped, Operand => ActionFn(38);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant5(__symbols);
        let __sym1 = __pop_Variant3(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action38::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (3, 4)
    }
    fn __reduce12<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Form = "@", Skipped, Operand => ActionFn(39);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant5(__symbols);
        let __sym1 = __pop_Variant3(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action39::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (3, 4)
    }
    fn __reduce13<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Form = "#inst", Skipped, Operand => ActionFn(40);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant5(__symbols);
        let __sym1 = __pop_Variant3(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action40::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (3, 4)
    }
    fn __reduce14<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Items =  => ActionFn(23);
        let __start = __lookahead_start.cloned().or_else(|| __symbols.last().map(|s| s.2.clone())).unwrap_or_default();
        let __end = __start.clone();
        let __nt = super::__action23::<>(reader, &__start, &__end);
        __symbols.push((__start, __Symbol::Variant6(__nt), __end));
        (0, 5)
    }
    fn __reduce15<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Items = Items, "a literal or name" => ActionFn(41);
        assert!(__symbols.len() >= 2);
        let __sym1 = __pop_Variant0(__symbols);
        let __sym0 = __pop_Variant6(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym1.2.clone();
        let __nt = super::__action41::<>(reader, __sym0, __sym1);
        __symbols.push((__start, __Symbol::Variant6(__nt), __end));
        (2, 5)
    }
    fn __reduce16<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Items = Items, "(", Items, ")" => ActionFn(42);
        assert!(__symbols.len() >= 4);
        let __sym3 = __pop_Variant1(__symbols);
        let __sym2 = __pop_Variant6(__symbols);
        let __sym1 = __pop_Variant1(__symbols);
        let __sym0 = __pop_Variant6(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym3.2.clone();
        let __nt = super::__action42::<>(reader, __sym0, __sym1, __sym2, __sym3);
        __symbols.push((__start, __Symbol::Variant6(__nt), __end));
        (4, 5)
    }
    fn __reduce17<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Items = Items, "[", Items, "]" => ActionFn(43);
        assert!(__symbols.len() >= 4);
        let __sym3 = __pop_Variant1(__symbols);
        let __sym2 = __pop_Variant6(__symbols);
        let __sym1 = __pop_Variant1(__symbols);
        let __sym0 = __pop_Variant6(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym3.2.clone();
        let __nt = super::__action43::<>(reader, __sym0, __sym1, __sym2, __sym3);
        __symbols.push((__start, __Symbol::Variant6(__nt), __end));
        (4, 5)
    }
    fn __reduce18<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Items = Items, "{", Items, "}" => ActionFn(44);
        assert!(__symbols.len() >= 4);
        let __sym3 = __pop_Variant1(__symbols);
        let __sym2 = __pop_Variant6(__symbols);
        let __sym1 = __pop_Variant1(__symbols);
        let __sym0 = __pop_Variant6(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym3.2.clone();
        let __nt = super::__action44::<>(reader, __sym0, __sym1, __sym2, __sym3);
        __symbols.push((__start, __Symbol::Variant6(__nt), __end));
        (4, 5)
    }
    fn __reduce19<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Items = Items, "#{", Items, "}" => ActionFn(45);
        assert!(__symbols.len() >= 4);
        let __sym3 = __pop_Variant1(__symbols);
        let __sym2 = __pop_Variant6(__symbols);
        let __sym1 = __pop_Variant1(__symbols);
        let __sym0 = __pop_Variant6(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym3.2.clone();
        let __nt = super::__action45::<>(reader, __sym0, __sym1, __sym2, __sym3);
        __symbols.push((__start, __Symbol::Variant6(__nt), __end));
        (4, 5)
    }
    fn __reduce20<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Items = Items, "#(", Items, ")" => ActionFn(46);
        assert!(__symbols.len() >= 4);
        let __sym3 = __pop_Variant1(__symbols);
        let __sym2 = __pop_Variant6(__symbols);
        let __sym1 = __pop_Variant1(__symbols);
        let __sym0 = __pop_Variant6(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym3.2.clone();
        let __nt = super::__action46::<>(reader, __sym0, __sym1, __sym2, __sym3);
        __symbols.push((__start, __Symbol::Variant6(__nt), __end));
        (4, 5)
    }
    fn __reduce21<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Items = Items, "'", Skipped, Operand => ActionFn(47);
        assert!(__symbols.len() >= 4);
        let __sym3 = __pop_Variant5(__symbols);
        let __sym2 = __pop_Variant3(__symbols);
        let __sym1 = __pop_Variant1(__symbols);
        let __sym0 = __pop_Variant6(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym3.2.clone();
        let __nt = super::__action47::<>(reader, __sym0, __sym1, __sym2, __sym3);
        __symbols.push((__start, __Symbol::Variant6(__nt), __end));
        (4, 5)
    }
    fn __reduce22<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Items = Items, "@", Skipped, Operand => ActionFn(48);
        assert!(__symbols.len() >= 4);
        let __sym3 = __pop_Variant5(__symbols);
        let __sym2 = __pop_Variant3(__symbols);
        let __sym1 = __pop_Variant1(__symbols);
        let __sym0 = __pop_Variant6(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym3.2.clone();
        let __nt = super::__action48::<>(reader, __sym0, __sym1, __sym2, __sym3);
        __symbols.push((__start, __Symbol::Variant6(__nt), __end));
        (4, 5)
    }
    fn __reduce23<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Items = Items, "#inst", Skipped, Operand => ActionFn(49);
        assert!(__symbols.len() >= 4);
        let __sym3 = __pop_Variant5(__symbols);
        let __sym2 = __pop_Variant3(__symbols);
        let __sym1 = __pop_Variant1(__symbols);
        let __sym0 = __pop_Variant6(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym3.2.clone();
        let __nt = super::__action49::<>(reader, __sym0, __sym1, __sym2, __sym3);
        __symbols.push((__start, __Symbol::Variant6(__nt), __end));
        (4, 5)
    }
    fn __reduce24<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Items = Items, Dropped => ActionFn(4);
        assert!(__symbols.len() >= 2);
        let __sym1 = __pop_Variant3(__symbols);
        let __sym0 = __pop_Variant6(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym1.2.clone();
        let __nt = super::__action4::<>(reader, __sym0, __sym1);
        __symbols.push((__start, __Symbol::Variant6(__nt), __end));
        (2, 5)
    }
    fn __reduce25<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Items = Items, error => ActionFn(5);
        assert!(__symbols.len() >= 2);
        let __sym1 = __pop_Variant2(__symbols);
        let __sym0 = __pop_Variant6(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym1.2.clone();
        let __nt = super::__action5::<>(reader, __sym0, __sym1);
        __symbols.push((__start, __Symbol::Variant6(__nt), __end));
        (2, 5)
    }
    fn __reduce26<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Operand = "a literal or name" => ActionFn(50);
        let __sym0 = __pop_Variant0(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym0.2.clone();
        let __nt = super::__action50::<>(reader, __sym0);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (1, 6)
    }
    fn __reduce27<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Operand = "(", Items, ")" => ActionFn(51);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant1(__symbols);
        let __sym1 = __pop_Variant6(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action51::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (3, 6)
    }
    fn __reduce28<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Operand = "[", Items, "]" => ActionFn(52);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant1(__symbols);
        let __sym1 = __pop_Variant6(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action52::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (3, 6)
    }
    fn __reduce29<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Operand = "{", Items, "}" => ActionFn(53);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant1(__symbols);
        let __sym1 = __pop_Variant6(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action53::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (3, 6)
    }
    fn __reduce30<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Operand = "#{", Items, "}" => ActionFn(54);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant1(__symbols);
        let __sym1 = __pop_Variant6(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action54::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (3, 6)
    }
    fn __reduce31<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Operand = "#(", Items, ")" => ActionFn(55);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant1(__symbols);
        let __sym1 = __pop_Variant6(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action55::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (3, 6)
    }
    fn __reduce32<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Operand = "'", Skipped, Operand => ActionFn(56);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant5(__symbols);
        let __sym1 = __pop_Variant3(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action56::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (3, 6)
    }
    fn __reduce33<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Operand = "@", Skipped, Operand => ActionFn(57);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant5(__symbols);
        let __sym1 = __pop_Variant3(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action57::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (3, 6)
    }
    fn __reduce34<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Operand = "#inst", Skipped, Operand => ActionFn(58);
        assert!(__symbols.len() >= 3);
        let __sym2 = __pop_Variant5(__symbols);
        let __sym1 = __pop_Variant3(__symbols);
        let __sym0 = __pop_Variant1(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym2.2.clone();
        let __nt = super::__action58::<>(reader, __sym0, __sym1, __sym2);
        __symbols.push((__start, __Symbol::Variant5(__nt), __end));
        (3, 6)
    }
    fn __reduce35<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Program = Items => ActionFn(1);
        let __sym0 = __pop_Variant6(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym0.2.clone();
        let __nt = super::__action1::<>(reader, __sym0);
        __symbols.push((__start, __Symbol::Variant7(__nt), __end));
        (1, 7)
    }
    fn __reduce36<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Skipped =  => ActionFn(24);
        let __start = __lookahead_start.cloned().or_else(|| __symbols.last().map(|s| s.2.clone())).unwrap_or_default();
        let __end = __start.clone();
        let __nt = super::__action24::<>(reader, &__start, &__end);
        __symbols.push((__start, __Symbol::Variant3(__nt), __end));
        (0, 8)
    }
    fn __reduce37<
        'a,
    >(
        reader: &mut Reader<'a>,
        __lookahead_start: Option<&u32>,
        __symbols: &mut alloc::vec::Vec<(u32,__Symbol<'a>,u32)>,
        _: core::marker::PhantomData<(&'a ())>,
    ) -> (usize, usize)
    {
        // Skipped = Skipped, Dropped => ActionFn(19);
        assert!(__symbols.len() >= 2);
        let __sym1 = __pop_Variant3(__symbols);
        let __sym0 = __pop_Variant3(__symbols);
        let __start = __sym0.0.clone();
        let __end = __sym1.2.clone();
        let __nt = super::__action19::<>(reader, __sym0, __sym1);
        __symbols.push((__start, __Symbol::Variant3(__nt), __end));
        (2, 8)
    }
}
#[allow(unused_imports)]
pub use self::__parse__Program::ProgramParser;

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action0<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, __0, _): (u32, &'a [Form<'a>], u32),
) -> &'a [Form<'a>]
{
    __0
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action1<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, start, _): (u32, usize, u32),
) -> &'a [Form<'a>]
{
    reader.collect(start)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action2<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, __0, _): (u32, (), u32),
) -> usize
{
    reader.open()
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action3<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, start, _): (u32, usize, u32),
    (_, form, _): (u32, Form<'a>, u32),
) -> usize
{
    reader.push(start, form)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action4<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, start, _): (u32, usize, u32),
    (_, _, _): (u32, (), u32),
) -> usize
{
    start
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action5<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, start, _): (u32, usize, u32),
    (_, lost, _): (u32, __lalrpop_util::ErrorRecovery<u32, Token<'a>, Stop>, u32),
) -> usize
{
    reader.recovered(start, lost)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action6<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, form, _): (u32, &'a Form<'a>, u32),
) -> Form<'a>
{
    *form
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action7<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, l, _): (u32, u32, u32),
    (_, _, _): (u32, Token<'a>, u32),
    (_, start, _): (u32, usize, u32),
    (_, _, _): (u32, Token<'a>, u32),
    (_, r, _): (u32, u32, u32),
) -> Form<'a>
{
    reader.list(l, start, r)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action8<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, l, _): (u32, u32, u32),
    (_, _, _): (u32, Token<'a>, u32),
    (_, start, _): (u32, usize, u32),
    (_, _, _): (u32, Token<'a>, u32),
    (_, r, _): (u32, u32, u32),
) -> Form<'a>
{
    reader.vector(l, start, r)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action9<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, l, _): (u32, u32, u32),
    (_, _, _): (u32, Token<'a>, u32),
    (_, start, _): (u32, usize, u32),
    (_, _, _): (u32, Token<'a>, u32),
    (_, r, _): (u32, u32, u32),
) -> Form<'a>
{
    reader.map(l, start, r)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action10<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, l, _): (u32, u32, u32),
    (_, _, _): (u32, Token<'a>, u32),
    (_, start, _): (u32, usize, u32),
    (_, _, _): (u32, Token<'a>, u32),
    (_, r, _): (u32, u32, u32),
) -> Form<'a>
{
    reader.set(l, start, r)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action11<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, l, _): (u32, u32, u32),
    (_, _, _): (u32, Token<'a>, u32),
    (_, start, _): (u32, usize, u32),
    (_, _, _): (u32, Token<'a>, u32),
    (_, r, _): (u32, u32, u32),
) -> Form<'a>
{
    reader.short_fn(l, start, r)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action12<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, l, _): (u32, u32, u32),
    (_, _, _): (u32, Token<'a>, u32),
    (_, _, _): (u32, (), u32),
    (_, form, _): (u32, Form<'a>, u32),
    (_, r, _): (u32, u32, u32),
) -> Form<'a>
{
    reader.quote(l, form, r)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action13<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, l, _): (u32, u32, u32),
    (_, _, _): (u32, Token<'a>, u32),
    (_, _, _): (u32, (), u32),
    (_, form, _): (u32, Form<'a>, u32),
    (_, r, _): (u32, u32, u32),
) -> Form<'a>
{
    reader.deref(l, form, r)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action14<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, l, _): (u32, u32, u32),
    (_, _, _): (u32, Token<'a>, u32),
    (_, _, _): (u32, (), u32),
    (_, form, _): (u32, Form<'a>, u32),
    (_, r, _): (u32, u32, u32),
) -> Form<'a>
{
    reader.inst(l, form, r)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action15<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, __0, _): (u32, Form<'a>, u32),
) -> Form<'a>
{
    __0
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action16<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, __0, _): (u32, Token<'a>, u32),
    (_, __1, _): (u32, (), u32),
    (_, __2, _): (u32, Form<'a>, u32),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action17<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, _, _): (u32, Token<'a>, u32),
    (_, _, _): (u32, (), u32),
    (_, form, _): (u32, Form<'a>, u32),
)
{
    reader.metadata(form)
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action18<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, __0, _): (u32, (), u32),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action19<
    'a,
>(
    reader: &mut Reader<'a>,
    (_, __0, _): (u32, (), u32),
    (_, __1, _): (u32, (), u32),
)
{
}

#[allow(unused_variables)]
#[allow(clippy::needless_lifetimes)]
fn __action20<
    'a,
>(
    reader: &mut Reader<'a>,
    __lookbehind: &u32,
    __lookahead: &u32,
) -> u32
{
    *__lookbehind
}

#[allow(unused_variables)]
#[allow(clippy::needless_lifetimes)]
fn __action21<
    'a,
>(
    reader: &mut Reader<'a>,
    __lookbehind: &u32,
    __lookahead: &u32,
) -> u32
{
    *__lookahead
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes, clippy::just_underscores_and_digits, clippy::extra_unused_type_parameters)]
fn __action22<
    'a,
>(
    reader: &mut Reader<'a>,
    __lookbehind: &u32,
    __lookahead: &u32,
)
{
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action23<
    'a,
>(
    reader: &mut Reader<'a>,
    __lookbehind: &u32,
    __lookahead: &u32,
) -> usize
{
    let __start0 = __lookbehind.clone();
    let __end0 = __lookahead.clone();
    let __temp0 = __action22(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action2(
        reader,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action24<
    'a,
>(
    reader: &mut Reader<'a>,
    __lookbehind: &u32,
    __lookahead: &u32,
)
{
    let __start0 = __lookbehind.clone();
    let __end0 = __lookahead.clone();
    let __temp0 = __action22(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action18(
        reader,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action25<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, usize, u32),
    __2: (u32, Token<'a>, u32),
    __3: (u32, u32, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action21(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action7(
        reader,
        __temp0,
        __0,
        __1,
        __2,
        __3,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action26<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, usize, u32),
    __2: (u32, Token<'a>, u32),
    __3: (u32, u32, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action21(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action8(
        reader,
        __temp0,
        __0,
        __1,
        __2,
        __3,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action27<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, usize, u32),
    __2: (u32, Token<'a>, u32),
    __3: (u32, u32, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action21(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action9(
        reader,
        __temp0,
        __0,
        __1,
        __2,
        __3,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action28<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, usize, u32),
    __2: (u32, Token<'a>, u32),
    __3: (u32, u32, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action21(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action10(
        reader,
        __temp0,
        __0,
        __1,
        __2,
        __3,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action29<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, usize, u32),
    __2: (u32, Token<'a>, u32),
    __3: (u32, u32, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action21(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action11(
        reader,
        __temp0,
        __0,
        __1,
        __2,
        __3,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action30<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, (), u32),
    __2: (u32, Form<'a>, u32),
    __3: (u32, u32, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action21(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action12(
        reader,
        __temp0,
        __0,
        __1,
        __2,
        __3,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action31<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, (), u32),
    __2: (u32, Form<'a>, u32),
    __3: (u32, u32, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action21(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action13(
        reader,
        __temp0,
        __0,
        __1,
        __2,
        __3,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action32<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, (), u32),
    __2: (u32, Form<'a>, u32),
    __3: (u32, u32, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __0.0.clone();
    let __temp0 = __action21(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action14(
        reader,
        __temp0,
        __0,
        __1,
        __2,
        __3,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action33<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, usize, u32),
    __2: (u32, Token<'a>, u32),
) -> Form<'a>
{
    let __start0 = __2.2.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action20(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action25(
        reader,
        __0,
        __1,
        __2,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action34<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, usize, u32),
    __2: (u32, Token<'a>, u32),
) -> Form<'a>
{
    let __start0 = __2.2.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action20(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action26(
        reader,
        __0,
        __1,
        __2,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action35<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, usize, u32),
    __2: (u32, Token<'a>, u32),
) -> Form<'a>
{
    let __start0 = __2.2.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action20(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action27(
        reader,
        __0,
        __1,
        __2,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action36<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, usize, u32),
    __2: (u32, Token<'a>, u32),
) -> Form<'a>
{
    let __start0 = __2.2.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action20(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action28(
        reader,
        __0,
        __1,
        __2,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action37<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, usize, u32),
    __2: (u32, Token<'a>, u32),
) -> Form<'a>
{
    let __start0 = __2.2.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action20(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action29(
        reader,
        __0,
        __1,
        __2,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action38<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, (), u32),
    __2: (u32, Form<'a>, u32),
) -> Form<'a>
{
    let __start0 = __2.2.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action20(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action30(
        reader,
        __0,
        __1,
        __2,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action39<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, (), u32),
    __2: (u32, Form<'a>, u32),
) -> Form<'a>
{
    let __start0 = __2.2.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action20(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action31(
        reader,
        __0,
        __1,
        __2,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action40<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, (), u32),
    __2: (u32, Form<'a>, u32),
) -> Form<'a>
{
    let __start0 = __2.2.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action20(
        reader,
        &__start0,
        &__end0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action32(
        reader,
        __0,
        __1,
        __2,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action41<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, usize, u32),
    __1: (u32, &'a Form<'a>, u32),
) -> usize
{
    let __start0 = __1.0.clone();
    let __end0 = __1.2.clone();
    let __temp0 = __action6(
        reader,
        __1,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action3(
        reader,
        __0,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action42<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, usize, u32),
    __1: (u32, Token<'a>, u32),
    __2: (u32, usize, u32),
    __3: (u32, Token<'a>, u32),
) -> usize
{
    let __start0 = __1.0.clone();
    let __end0 = __3.2.clone();
    let __temp0 = __action33(
        reader,
        __1,
        __2,
        __3,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action3(
        reader,
        __0,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action43<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, usize, u32),
    __1: (u32, Token<'a>, u32),
    __2: (u32, usize, u32),
    __3: (u32, Token<'a>, u32),
) -> usize
{
    let __start0 = __1.0.clone();
    let __end0 = __3.2.clone();
    let __temp0 = __action34(
        reader,
        __1,
        __2,
        __3,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action3(
        reader,
        __0,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action44<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, usize, u32),
    __1: (u32, Token<'a>, u32),
    __2: (u32, usize, u32),
    __3: (u32, Token<'a>, u32),
) -> usize
{
    let __start0 = __1.0.clone();
    let __end0 = __3.2.clone();
    let __temp0 = __action35(
        reader,
        __1,
        __2,
        __3,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action3(
        reader,
        __0,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action45<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, usize, u32),
    __1: (u32, Token<'a>, u32),
    __2: (u32, usize, u32),
    __3: (u32, Token<'a>, u32),
) -> usize
{
    let __start0 = __1.0.clone();
    let __end0 = __3.2.clone();
    let __temp0 = __action36(
        reader,
        __1,
        __2,
        __3,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action3(
        reader,
        __0,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action46<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, usize, u32),
    __1: (u32, Token<'a>, u32),
    __2: (u32, usize, u32),
    __3: (u32, Token<'a>, u32),
) -> usize
{
    let __start0 = __1.0.clone();
    let __end0 = __3.2.clone();
    let __temp0 = __action37(
        reader,
        __1,
        __2,
        __3,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action3(
        reader,
        __0,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action47<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, usize, u32),
    __1: (u32, Token<'a>, u32),
    __2: (u32, (), u32),
    __3: (u32, Form<'a>, u32),
) -> usize
{
    let __start0 = __1.0.clone();
    let __end0 = __3.2.clone();
    let __temp0 = __action38(
        reader,
        __1,
        __2,
        __3,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action3(
        reader,
        __0,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action48<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, usize, u32),
    __1: (u32, Token<'a>, u32),
    __2: (u32, (), u32),
    __3: (u32, Form<'a>, u32),
) -> usize
{
    let __start0 = __1.0.clone();
    let __end0 = __3.2.clone();
    let __temp0 = __action39(
        reader,
        __1,
        __2,
        __3,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action3(
        reader,
        __0,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action49<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, usize, u32),
    __1: (u32, Token<'a>, u32),
    __2: (u32, (), u32),
    __3: (u32, Form<'a>, u32),
) -> usize
{
    let __start0 = __1.0.clone();
    let __end0 = __3.2.clone();
    let __temp0 = __action40(
        reader,
        __1,
        __2,
        __3,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action3(
        reader,
        __0,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action50<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, &'a Form<'a>, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __0.2.clone();
    let __temp0 = __action6(
        reader,
        __0,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action15(
        reader,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action51<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, usize, u32),
    __2: (u32, Token<'a>, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action33(
        reader,
        __0,
        __1,
        __2,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action15(
        reader,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action52<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, usize, u32),
    __2: (u32, Token<'a>, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action34(
        reader,
        __0,
        __1,
        __2,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action15(
        reader,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action53<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, usize, u32),
    __2: (u32, Token<'a>, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action35(
        reader,
        __0,
        __1,
        __2,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action15(
        reader,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action54<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, usize, u32),
    __2: (u32, Token<'a>, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action36(
        reader,
        __0,
        __1,
        __2,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action15(
        reader,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action55<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, usize, u32),
    __2: (u32, Token<'a>, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action37(
        reader,
        __0,
        __1,
        __2,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action15(
        reader,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action56<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, (), u32),
    __2: (u32, Form<'a>, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action38(
        reader,
        __0,
        __1,
        __2,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action15(
        reader,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action57<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, (), u32),
    __2: (u32, Form<'a>, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action39(
        reader,
        __0,
        __1,
        __2,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action15(
        reader,
        __temp0,
    )
}

#[allow(unused_variables)]
#[allow(clippy::too_many_arguments, clippy::needless_lifetimes,
    clippy::just_underscores_and_digits, clippy::clone_on_copy, clippy::unit_arg)]
fn __action58<
    'a,
>(
    reader: &mut Reader<'a>,
    __0: (u32, Token<'a>, u32),
    __1: (u32, (), u32),
    __2: (u32, Form<'a>, u32),
) -> Form<'a>
{
    let __start0 = __0.0.clone();
    let __end0 = __2.2.clone();
    let __temp0 = __action40(
        reader,
        __0,
        __1,
        __2,
    );
    let __temp0 = (__start0, __temp0, __end0);
    __action15(
        reader,
        __temp0,
    )
}

#[allow(clippy::type_complexity, dead_code)]
pub trait __ToTriple<'a, >
{
    fn to_triple(self) -> Result<(u32,Token<'a>,u32), __lalrpop_util::ParseError<u32, Token<'a>, Stop>>;
}

impl<'a, > __ToTriple<'a, > for (u32, Token<'a>, u32)
{
    fn to_triple(self) -> Result<(u32,Token<'a>,u32), __lalrpop_util::ParseError<u32, Token<'a>, Stop>> {
        Ok(self)
    }
}
impl<'a, > __ToTriple<'a, > for Result<(u32, Token<'a>, u32), Stop>
{
    fn to_triple(self) -> Result<(u32,Token<'a>,u32), __lalrpop_util::ParseError<u32, Token<'a>, Stop>> {
        self.map_err(|error| __lalrpop_util::ParseError::User { error })
    }
}
