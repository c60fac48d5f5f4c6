//! `ptc studio`: pages on this machine.

use crate::args::StudioArgs;
use crate::input::{Data, DataSource, read, read_program};
use crate::preludes::select;
use crate::problem::Problem;
use crate::report::{self, OK};
use crate::setup::plain_runtime;
use crate::stored;
use ptc_bytecode::Code;
use ptc_studio::{Start, Studio, Token};
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::ExitCode;
use tokio::net::TcpListener;

pub fn run(args: &StudioArgs) -> ExitCode {
    match studio(args).and_then(|studio| serve(args, studio)) {
        Ok(()) => ExitCode::from(OK),
        Err(problem) => report::problem(&problem, false),
    }
}

fn studio(args: &StudioArgs) -> Result<Studio, Problem> {
    let runtime = plain_runtime(args.limits.0)?;
    let preludes = select(&runtime, &args.preludes)?;
    let is_attached =
        |name: &str| preludes.iter().flat_map(|prelude| prelude.namespaces()).any(|space| space.name == name);
    let documented = stored::all_shipped(&runtime)?
        .into_iter()
        .filter(|prelude| !prelude.namespaces().iter().any(|space| is_attached(&space.name)))
        .collect();
    if let Some(folder) = args.traces.as_ref().filter(|folder| !folder.is_dir()) {
        let message = format!("{} is not a folder", folder.display());
        return Err(Problem::new(Code::InvalidConfig, message)
            .hint("name the folder that `--trace` of `ptc agent run` writes to"));
    }
    let program = args.file.as_ref().map_or_else(|| Ok(String::new()), |file| read_program(file))?;
    let start = Start { program, data: texts(&args.data, "--data")?, stubs: texts(&args.stubs, "--stub")? };
    Ok(Studio { runtime, preludes, documented, traces: args.traces.clone(), start })
}

/// The texts of granted data. The page shows them, so they are checked when a program runs.
fn texts(all: &[Data], flag: &str) -> Result<Vec<(String, String)>, Problem> {
    Data::check_names(all, flag)?;
    let text = |data: &Data| {
        let text = match &data.source {
            DataSource::Text(text) => text.clone(),
            DataSource::File(file) => String::from_utf8_lossy(&read(Path::new(file))?).into_owned(),
        };
        Ok((data.name.clone(), text))
    };
    all.iter().map(text).collect()
}

fn serve(args: &StudioArgs, studio: Studio) -> Result<(), Problem> {
    let wrong = |message: String| Problem::new(Code::InvalidConfig, message);
    let token = Token::random().map_err(wrong)?;
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(2).build();
    let threads = threads.map_err(|error| wrong(format!("cannot start threads: {error}")))?;
    threads.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))
            .await
            .map_err(|error| wrong(format!("cannot listen on 127.0.0.1:{}: {error}", args.port)))?;
        let address = listener.local_addr().map_err(|error| wrong(error.to_string()))?;
        let line = format!("http://{address}/{}/\n", token.as_str());
        let _ = io::stdout().write_all(line.as_bytes()).and_then(|()| io::stdout().flush());
        eprintln!("open this address in a browser; it works until you press Ctrl-C here");
        ptc_studio::serve(studio, listener, token).await.map_err(|error| wrong(error.to_string()))
    })
}
